// Starts and stops parts: real processes, which never outlive this process, however it ends.

import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { stopLimitMs, USUAL_WAIT_TIMEOUT_MS } from '../services/inventory/settings/limits.ts';
import { projectDir } from './kept-bundle.mjs';
import { type Address, isFree } from './ports.ts';

export { cacheDir, isInstalled, projectDir } from './kept-bundle.mjs';

/** How long a part may take to become ready, in milliseconds. */
const READY_LIMIT_MS = 20_000;
const READY_POLL_MS = 20;
/** How long a part may take to end by itself by default, in milliseconds: as long as a node that finishes its sales first. */
const STOP_LIMIT_MS = stopLimitMs(USUAL_WAIT_TIMEOUT_MS);
/** How often to start a part before a taken port is an error. */
const TRIES = 5;

/** The Node arguments to run one of the project's TypeScript files. */
export function nodeArgs(file: string): string[] {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
  return ['--disable-warning=ExperimentalWarning', '--import', tsx, join(projectDir, file)];
}

/** A real process of the stack. */
export type Part = Awaited<ReturnType<typeof startPart>>;

export interface PartOptions {
  name: string;
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  /** Its working directory; by default that of this process. */
  cwd?: string;
  /** The addresses that it listens on. */
  addresses?: Address[];
  /** How long it may take to get ready, in milliseconds (default: 20 s). */
  readyLimitMs?: number | undefined;
  /** How long it may take to end by itself before it is killed, in milliseconds (default: as the usual node). */
  stopLimitMs?: number | undefined;
  /**
   *
   * Polled until it resolves with true: is this very process ready? Another process may respond on a port that it has taken. A
   * rejection means not yet.
   *
   */
  isReady: (pid: number) => Promise<boolean>;
  /** Called with every line that the part prints. */
  onLine?: ((line: string) => void) | undefined;
  /** Called with every message that the part sends. Without it there is no message channel. */
  onMessage?: ((message: unknown) => void) | undefined;
}

let reaper: ChildProcess | undefined;
/** What the reaper would currently remove, such as `pid 123`. */
const listed = new Set<string>();

/** Tells the reaper what to remove if this process dies first: `+pid 123`, and `-pid 123` once it is gone. */
export function notifyReaper(line: string) {
  if (line.startsWith('+')) listed.add(line.slice(1));
  else listed.delete(line.slice(1));
  if (reaper === undefined) {
    reaper = spawn(process.execPath, [join(projectDir, 'stack/reaper.mjs')], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    reaper.unref();
    reaper.stdin?.on('error', () => {});
  }
  reaper.stdin?.write(`${line}\n`);
}

/** Ends the reaper, if it has nothing left to remove. Call it last. */
export async function dismissReaper() {
  if (reaper === undefined || listed.size > 0) return;
  const ended = once(reaper, 'exit');
  reaper.ref();
  reaper.stdin?.end();
  reaper = undefined;
  await ended;
}

/** A temporary folder that is removed with this process. */
export function makeTempDir() {
  const dir = mkdtempSync(join(tmpdir(), 'lockstep-'));
  notifyReaper(`+dir ${dir}`);
  return {
    dir,
    remove() {
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
      notifyReaper(`-dir ${dir}`);
    },
  };
}

/** A part ended unexpectedly, or was not ready in time. The message includes the last lines that it printed. */
export class PartError extends Error {
  /** The part's name. */
  part: string;
  /** True if it was not ready in time, which may be the machine's fault. */
  isLate: boolean;

  constructor(part: string, message: string, { isLate = false } = {}) {
    super(message);
    this.part = part;
    this.isLate = isLate;
  }

  /** One sentence: how it ended, and the line that names its error, if any. */
  get inShort(): string {
    const [first = '', ...lines] = this.message.split('\n').map((line) => line.trim());
    const cause = lines.find((line) => /^(\[?\w*Error\b|\[Unhandled|LOCK_MODULES)/.test(line));
    return `${first}${cause === undefined ? '' : `: ${cause}`}`.replace(/\.?$/, '.');
  }
}

/** A part ended at its start because another program listens on its port. */
export class PortTaken extends Error {
  port: number;

  constructor(name: string, port: number) {
    super(`${name} could not be started: another program has taken port ${port}`);
    this.port = port;
  }
}

/**
 *
 * Resolves like `start`. Another program may take a free port before the part listens on it: `start` is then called again, and
 * picks other ports. Rejects with PortTaken after TRIES times.
 *
 */
export async function retryOnTakenPort<T>(start: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof PortTaken) || tries === TRIES) throw error;
    }
  }
}

/**
 *
 * Starts a process and waits until it is ready. Rejects with PartError if it ends or takes too long, and with PortTaken if it
 * ends and another program has one of its ports.
 *
 */
export async function startPart({
  name,
  command,
  args,
  env,
  cwd,
  addresses = [],
  readyLimitMs = READY_LIMIT_MS,
  stopLimitMs: limitMs = STOP_LIMIT_MS,
  isReady,
  onLine,
  onMessage,
}: PartOptions) {
  // A process group of its own: Ctrl-C reaches this process alone, which then stops the parts in order.
  const child = spawn(command, args, {
    env: env ?? process.env,
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', ...(onMessage ? ['ipc' as const] : [])],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  if (onMessage) child.on('message', onMessage);
  const lastLines: string[] = [];
  /** Resolves with a sentence when the process has ended, for whatever reason. */
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`${name} could not be started: ${error.message}`));
    // Its children would keep working, and keep its output open.
    child.once('exit', () => child.pid !== undefined && signalGroup(child.pid, 'SIGKILL'));
    child.once('close', (code, signal) => {
      if (child.pid !== undefined) notifyReaper(`-pid ${child.pid}`);
      const how = signal ? `was killed by ${signal}` : `ended with exit code ${code}`;
      resolve([`${name} ${how}`, ...lastLines].join('\n  '));
    });
  });
  if (child.pid === undefined) throw new Error(await ended);
  const { pid } = child;
  notifyReaper(`+pid ${pid}`);

  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lastLines.push(line);
      if (lastLines.length > 8) lastLines.shift();
      onLine?.(line);
    });
  }

  /** Asks the process to end and waits for it; kills it if it takes too long. */
  async function stop() {
    const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), limitMs);
    signalGroup(pid, 'SIGTERM');
    // One that is paused can't end.
    signalGroup(pid, 'SIGCONT');
    await ended;
    clearTimeout(timer);
  }

  const over = new AbortController();
  void ended.then(() => over.abort());
  const failure = await Promise.race([untilReady(name, readyLimitMs, () => isReady(pid), over.signal), ended]);
  if (failure === undefined) {
    /** Sends a signal to the process and its children. */
    const signal = (name: NodeJS.Signals) => signalGroup(pid, name);
    /** Sends a message to a process that was started with `onMessage`. Does nothing if it has ended. */
    const send = (message: object) => void (child.connected && child.send(message, () => {}));
    return { name, pid, ended, signal, send, stop };
  }
  const hasEnded = over.signal.aborted;
  await stop();
  for (const address of addresses) if (hasEnded && !(await isFree(address))) throw new PortTaken(name, address.port);
  throw new PartError(name, failure, { isLate: !hasEnded });
}

/** Resolves with undefined when the part is ready or `over`, with a sentence if it takes too long. */
async function untilReady(name: string, limitMs: number, isReady: () => Promise<boolean>, over: AbortSignal) {
  const deadline = performance.now() + limitMs;
  while (!over.aborted && !(await isReady().catch(() => false))) {
    if (performance.now() > deadline) return `${name} was not ready within ${limitMs} ms`;
    await sleep(READY_POLL_MS);
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended already.
  }
}
