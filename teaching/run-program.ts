// Runs a program to its end, with all that it starts.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { notifyReaper } from '../scripts/stack/parts.ts';

export interface ProgramOptions {
  signal: AbortSignal;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
}

/** A program has ended with another exit code than 0. */
export class ProgramFailed extends Error {
  stdout: string;
  stderr: string;

  constructor(command: string, { stdout, stderr }: { stdout: string; stderr: string }) {
    super(`${command} failed: ${stderr.trim() || stdout.trim() || 'it said nothing'}`);
    this.stdout = stdout;
    this.stderr = stderr;
  }
}

/**
 * Resolves with what it prints. Rejects with ProgramFailed when it fails, and with the signal's reason when that aborts: the program and
 * its children have ended then.
 */
export async function runProgram(command: string, args: string[], options: ProgramOptions): Promise<string> {
  const { signal, ...where } = options;
  signal.throwIfAborted();
  // A process group of its own, so that its children can be ended with it.
  const child = spawn(command, args, { ...where, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  // Rejects when there is no such program.
  await once(child, 'spawn');
  const pid = child.pid as number;
  notifyReaper(`+pid ${pid}`);
  const stop = () => endGroup(pid);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  signal.removeEventListener('abort', stop);
  notifyReaper(`-pid ${pid}`);
  signal.throwIfAborted();
  if (code !== 0) throw new ProgramFailed([command, ...args].slice(0, 3).join(' '), { stdout, stderr });
  return stdout;
}

function endGroup(pid: number) {
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // It has ended already.
  }
}
