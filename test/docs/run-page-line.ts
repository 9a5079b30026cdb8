// Runs one command of a page as it stands, in a copy of the checkout, and ends all that it has started.

import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processesOf } from '../loadtest/commands/processes-of.ts';
import type { Checkout } from '../mutations/checkout.ts';
import type { PageRun } from './page-runs.ts';

/** How long a command may take, in milliseconds. */
const LIMIT_MS = 600_000;
/** How long a stack may take to be ready or to end, and what has lost its parent to be gone, in milliseconds. */
const STACK_LIMIT_MS = 120_000;
const GONE_LIMIT_MS = 15_000;
const POLL_MS = 100;
const ENTER_MS = 300;

const CTRL_C = '\x03';
const STACK_IS_UP = /Stop: +Ctrl-C/;

/** What does not end by itself: from which words on, and by which key. It is given a terminal. */
const GOES_ON: [RegExp, { from: RegExp; key: string }][] = [
  [/npm run up$/, { from: STACK_IS_UP, key: CTRL_C }],
  [/npm run live/, { from: /https?:\/\//, key: CTRL_C }],
  [/^npm run workshop( -- \d+)?$/, { from: /What do you expect/, key: 'q' }],
  [/^curl -N/, { from: /"events"/, key: CTRL_C }],
  [/services\/inventory\/main\.ts$/, { from: /listening/, key: CTRL_C }],
];

/** What says that a line by hand was not understood, or reached nobody. */
const FAULT =
  /command not found|syntax error|unbound variable|no such file or directory|connection refused|ECONNREFUSED|curl: \((6|7)\)|ERR unknown command/i;

/** A setting in what `npm run up` prints. */
const ADDRESS = /\b((?:MYSQL|REDIS)_URL)=(\S+)/g;

/** Files that a command asks for, which `npm run grade -- --new` writes. */
const OWN_LOCKS = ['my-lock.ts', 'a.ts', 'b.ts'];

const ENGLISH = 'live/texts/en.ts';
const GERMAN = 'live/texts/de.ts';

export interface Ended {
  exitCode: number;
  faults: string[];
  output: string;
}

/** Rejects with the signal's reason when that aborts; nothing is left then, either. */
export async function runPageLine({ stack, command }: PageRun, copy: Checkout, signal: AbortSignal): Promise<Ended> {
  signal.throwIfAborted();
  for (const name of OWN_LOCKS) await provide(name, command, copy, signal);
  // The page asks for a translation first.
  if (command.startsWith('LIVE_LANGUAGE=de')) copyFileSync(join(copy.dir, ENGLISH), join(copy.dir, GERMAN));
  let up: Started | undefined;
  // `npm run up` prints the addresses with which `npm run reconcile` is to be called.
  const inCopy = (line: string, hasTerminal: boolean) =>
    start(
      line,
      hasTerminal,
      copy,
      Object.fromEntries([...(up?.output() ?? '').matchAll(ADDRESS)].map(([, ...pair]) => pair)),
    );
  try {
    if (stack !== undefined) {
      up = inCopy(stack, true);
      await up.prints(STACK_IS_UP, STACK_LIMIT_MS, signal);
    }
    const ended = await runToEnd(command, inCopy, signal);
    const lines = stack === undefined ? [] : [...new Set(ended.output.split('\n'))];
    const refused = lines.filter((line) => FAULT.test(line));
    up?.type(CTRL_C);
    await up?.ends(STACK_LIMIT_MS, signal);
    const left = await leftOf(copy, signal);
    return { ...ended, faults: [...ended.faults, ...refused, ...left.map((line) => `It left ${line}`)] };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { exitCode: -1, faults: [messageOf(error)], output: up?.output() ?? '' };
  } finally {
    await endAllOf(copy);
  }
}

async function runToEnd(
  command: string,
  inCopy: (line: string, hasTerminal: boolean) => Started,
  signal: AbortSignal,
): Promise<Ended> {
  const goesOn = GOES_ON.find(([of]) => of.test(command))?.[1];
  const started = inCopy(command, goesOn !== undefined);
  // A speaker presses Enter at each step, and so does this.
  const audience = command.includes('--pause') ? setInterval(() => started.type('\n'), ENTER_MS) : undefined;
  try {
    if (goesOn !== undefined) {
      await started.prints(goesOn.from, STACK_LIMIT_MS, signal);
      started.type(goesOn.key);
    }
    const exitCode = await started.ends(LIMIT_MS, signal);
    return { exitCode, output: started.output(), faults: [] };
  } catch (error) {
    if (signal.aborted) throw error;
    return { exitCode: -1, output: started.output(), faults: [messageOf(error)] };
  } finally {
    clearInterval(audience);
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

interface Started {
  output(): string;
  type(keys: string): void;
  /** Rejects when it has not printed this in time, or has ended. */
  prints(words: RegExp, limitMs: number, signal: AbortSignal): Promise<void>;
  ends(limitMs: number, signal: AbortSignal): Promise<number>;
}

/** Starts a line in bash, which the pages are written for. */
function start(line: string, hasTerminal: boolean, { dir, tmp }: Checkout, settings: NodeJS.ProcessEnv = {}): Started {
  // curl says what -s keeps to itself.
  writeFileSync(join(tmp, '.curlrc'), 'show-error\n');
  const isOurs = ([name]: [string, unknown]) => !/^(VITEST|NODE_ENV$|NODE_OPTIONS$|npm_)/.test(name);
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(isOurs)),
    ...{ NO_COLOR: '1', TMPDIR: tmp, CURL_HOME: tmp, PWD: dir, ...settings },
  };
  const script = join(tmp, hasTerminal ? 'with-terminal.sh' : 'line.sh');
  writeFileSync(script, `${line}\n`);
  const [file, args] = hasTerminal
    ? (['script', ['-q', '-e', '-f', '-c', `bash ${script}`, '/dev/null']] as const)
    : (['bash', [script]] as const);
  const child: ChildProcess = spawn(file, args, { cwd: dir, env, detached: true, stdio: 'pipe' });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  child.stdin?.on('error', () => {});
  if (!hasTerminal && !line.includes('--pause')) child.stdin?.end();
  let exitCode: number | undefined;
  child.once('error', (error) => {
    output += error.message;
    exitCode = -1;
  });
  child.once('exit', (code) => {
    exitCode = code ?? -1;
  });

  return {
    output: () => output,
    type: (keys) => void child.stdin?.write(keys),
    async prints(words, limitMs, signal) {
      await until(() => words.test(output) || exitCode !== undefined, limitMs, signal);
      if (!words.test(output)) throw new Error(`${line} has not printed ${words}.`);
    },
    async ends(limitMs, signal) {
      if (!(await until(() => exitCode !== undefined, limitMs, signal)))
        throw new Error(`${line.split('\n')[0]} did not end within ${limitMs / 1000} s.`);
      return exitCode as number;
    },
  };
}

async function until(isSo: () => boolean, limitMs: number, signal: AbortSignal): Promise<boolean> {
  const endsAt = performance.now() + limitMs;
  while (!isSo()) {
    signal.throwIfAborted();
    if (performance.now() > endsAt) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/** Writes a lock of one's own where a command asks for one, and removes it where the command writes it. */
async function provide(name: string, command: string, copy: Checkout, signal: AbortSignal) {
  const path = join(copy.dir, name);
  if (command.endsWith(`--new ${name}`)) rmSync(path, { force: true });
  else if (command.includes(`./${name}`) && !existsSync(path))
    await start(`npm run grade -- --new ${name}`, false, copy).ends(LIMIT_MS, signal);
}

/** What is still there when what has lost its parent has had time to end. */
async function leftOf({ tmp }: Checkout, signal: AbortSignal): Promise<string[]> {
  await until(() => processesOf(tmp).length === 0, GONE_LIMIT_MS, signal);
  return processesOf(tmp);
}

/** First as Ctrl-C does, so that each clears up; then what is left. */
async function endAllOf({ tmp }: Checkout) {
  for (const name of ['SIGINT', 'SIGKILL'] as const) {
    for (const line of processesOf(tmp)) {
      try {
        process.kill(Number.parseInt(line, 10), name);
      } catch {
        // It has ended by itself.
      }
    }
    if (name === 'SIGINT')
      await until(() => processesOf(tmp).length === 0, GONE_LIMIT_MS, new AbortController().signal);
  }
}
