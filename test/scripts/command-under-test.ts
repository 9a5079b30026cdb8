import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, vi } from 'vitest';
import { bundledArgs } from '../../stack/bundle.ts';
import { nodeArgs, projectDir } from '../../stack/parts.ts';
import { processesOf } from './processes-of.ts';

/** One of the project's commands, running in a temporary folder of its own, so that what it leaves behind can be found. */
export interface CommandUnderTest {
  child: ChildProcess;
  pid: number;
  /** Everything that it has printed so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves when the output matches. Rejects when the command ends before. */
  prints(pattern: RegExp): Promise<RegExpExecArray>;
  pressEnter(): void;
  /** The terminal is closed: nothing will be typed any more. */
  endInput(): void;
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Its TMPDIR. */
  tmp: string;
  /** The folder for reports. */
  reports: string;
  /** The temporary files and the processes that are left of it. */
  leftovers(): string[];
  remove(): void;
}

/**
 * Starts these commands for the tests of one file, each as one bundled file, which starts in half the time. After each test
 * they are killed, and nothing of them is left.
 */
export function ownCommands(...files: string[]): typeof startCommand {
  const bundles = new Map<string, string[]>();
  let running: CommandUnderTest[] = [];

  beforeAll(async () => {
    for (const file of files) bundles.set(file, await bundledArgs(file));
  });

  afterEach(async () => {
    for (const command of running) {
      command.child.kill('SIGKILL');
      await command.ended;
    }
    for (const command of running) {
      await leavesNothing(command);
      command.remove();
    }
    running = [];
  });

  return (file, args, env) => {
    const command = startCommand(file, args, env, bundles.get(file));
    running.push(command);
    return command;
  };
}

/** Runs a command to its end for the tests of one file, as ownCommands does. */
export function ownRuns(file: string) {
  const start = ownCommands(file);

  return async function run(
    args: string[],
    {
      meanwhile = async () => {},
      env = {},
    }: { meanwhile?: (command: CommandUnderTest) => Promise<unknown>; env?: NodeJS.ProcessEnv } = {},
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const command = start(file, args, env);
    await meanwhile(command);
    const { code } = await command.ended;
    return { code, stdout: command.stdout(), stderr: command.stderr() };
  };
}

/** The reaper needs a moment after a death that nobody announced. */
export const leavesNothing = (command: CommandUnderTest) =>
  vi.waitFor(() => expect(command.leftovers()).toEqual([]), { timeout: 60_000 });

/** Starts a command as its npm script does, or by other arguments of Node. */
export function startCommand(
  file: string,
  args: string[] = [],
  env: NodeJS.ProcessEnv = {},
  node: string[] = nodeArgs(file),
): CommandUnderTest {
  const tmp = mkdtempSync(join(tmpdir(), 'command-under-test-'));
  const reports = mkdtempSync(join(tmpdir(), 'reports-under-test-'));
  // Or tsx would compile the whole project anew for each command.
  const compiled = `tsx-${userInfo().uid}`;
  mkdirSync(join(tmpdir(), compiled), { recursive: true });
  symlinkSync(join(tmpdir(), compiled), join(tmp, compiled));
  const writes = /scripts\/(start|staircase|bench|grade|prove|drill|judge)\.ts$/.test(file);
  const withReports = writes && !args.includes('--reports') ? ['--reports', reports] : [];
  // The settings of the tests' own shell must not reach the command; TMPDIR marks it and all that it starts.
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [...node, ...args, ...withReports], {
    cwd: projectDir,
    env: { PATH, HOME, TMPDIR: tmp, ...env },
  });
  child.stdin.on('error', () => {});
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });

  return {
    child,
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    prints: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(stdout);
          if (match) resolve(match);
        };
        look();
        child.stdout.on('data', look);
        void ended.then(() => reject(new Error(`It ended without printing ${pattern}: ${stdout}\n${stderr}`)));
      }),
    pressEnter: () => void child.stdin.write('\n'),
    endInput: () => void child.stdin.end(),
    ended,
    tmp,
    reports,
    // The link to what tsx has compiled is ours.
    leftovers: () => [...readdirSync(tmp).filter((name) => !name.startsWith('tsx-')), ...processesOf(tmp)],
    remove() {
      rmSync(tmp, { recursive: true, force: true });
      rmSync(reports, { recursive: true, force: true });
    },
  };
}

/** A PATH with nothing on it but Node: no redis-server, no nginx. */
export function makeBarePath(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'bare-path-'));
  symlinkSync(process.execPath, join(path, 'node'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
