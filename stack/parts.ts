// Starts and stops parts: real processes. None of them outlives this process, however it ends.

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

/** How long a part may take to get ready, in milliseconds. */
const READY_LIMIT_MS = 20_000;
const READY_POLL_MS = 20;
/** How long a part may take to end by itself unless it says more: as long as a node that ends its sales first, in milliseconds. */
const STOP_LIMIT_MS = stopLimitMs(USUAL_WAIT_TIMEOUT_MS);
/** How often a part is started before a taken port is an error. */
const TRIES = 5;

/** The arguments that make Node run one of the project's TypeScript files. */
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
  /** The folder it works in; this process' own when it is not given. */
  cwd?: string;
  /** Where it listens. */
  addresses?: Address[];
  /** How long it may take to get ready, in milliseconds (default: 20 s). */
  readyLimitMs?: number | undefined;
  /** How long it may take to end by itself before it is killed, in milliseconds (default: as the usual node). */
  stopLimitMs?: number | undefined;
  /**
   * Asked again and again until it resolves with true: does this very process do its work? Another one may answer on a port
   * that it has taken. A rejection means not yet.
   */
  isReady: (pid: number) => Promise<boolean>;
  /** Given every line that the part prints. */
  onLine?: ((line: string) => void) | undefined;
  /** Given every message that the part sends. Without it there is no channel for messages. */
  onMessage?: ((message: unknown) => void) | undefined;
}

let reaper: ChildProcess | undefined;
/** What the reaper would remove now, such as `pid 123`. */
const listed = new Set<string>();

/** Lists what the reaper removes if this process dies before it can: `+pid 123`, and `-pid 123` when it is gone. */
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

/** Ends the reaper, if nothing is left that it would remove. Call it last. */
export async function dismissReaper() {
  if (reaper === undefined || listed.size > 0) return;
  const ended = once(reaper, 'exit');
  reaper.ref();
  reaper.stdin?.end();
  reaper = undefined;
  await ended;
}

/** A temporary folder that is removed when this process ends. */
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

/** A part ended unexpectedly, or was not ready in time. The message has the last lines that it printed. */
export class PartError extends Error {
  /** Its name. */
  part: string;
  /** It was not ready in time: the machine may be why. */
  isLate: boolean;

  constructor(part: string, message: string, { isLate = false } = {}) {
    super(message);
    this.part = part;
    this.isLate = isLate;
  }

  /** One sentence: how it ended, and the line that names its error, if one does. */
  get inShort(): string {
    const [first = '', ...lines] = this.message.split('\n').map((line) => line.trim());
    const cause = lines.find((line) => /^(\[?\w*Error\b|\[Unhandled|LOCK_MODULES)/.test(line));
    return `${first}${cause === undefined ? '' : `: ${cause}`}`.replace(/\.?$/, '.');
  }
}

/** A part ended at its start, because another program listens on its port. */
export class PortTaken extends Error {
  port: number;

  constructor(name: string, port: number) {
    super(`${name} could not be started: another program is using port ${port}`);
    this.port = port;
  }
}

/**
 * Resolves with what `start` does. A port that is free may be taken by another program before the part listens on it:
 * `start` is then called again, and asks for other ports. Rejects with PortTaken when that happens TRIES times.
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
 * Starts a process and waits until it is ready. Rejects with PartError when it ends or takes too long, and with PortTaken when it ends and
 * another program has one of its ports.
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
  /** Resolves with a sentence when the process has ended, whatever ended it. */
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`${name} could not be started: ${error.message}`));
    // Its children would keep working, and keep its output open.
    child.once('exit', () => child.pid !== undefined && signalGroup(child.pid, 'SIGKILL'));
    child.once('close', (code, signal) => {
      if (child.pid !== undefined) notifyReaper(`-pid ${child.pid}`);
      const how = signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
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

  /** Asks the process to end and waits for it; one that does not end in time is killed. */
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
    /** Sends a message to a process that was started with `onMessage`. One that has ended meanwhile is told nothing. */
    const send = (message: object) => void (child.connected && child.send(message, () => {}));
    return { name, pid, ended, signal, send, stop };
  }
  const hasEnded = over.signal.aborted;
  await stop();
  for (const address of addresses) if (hasEnded && !(await isFree(address))) throw new PortTaken(name, address.port);
  throw new PartError(name, failure, { isLate: !hasEnded });
}

/** Resolves with nothing when the part is ready or `over`, with a sentence when it takes too long. */
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
