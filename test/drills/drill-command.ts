import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodeArgs, projectDir } from '../../scripts/parts.ts';

export type DrillCommand = ReturnType<typeof startDrillCommand>;

/** `npm run drill` with somebody at the keyboard, in a temporary folder of its own, so that what it leaves can be found. */
export function startDrillCommand(args: string[], env: NodeJS.ProcessEnv = {}) {
  const tmp = mkdtempSync(join(tmpdir(), 'drill-command-'));
  // What tsx has compiled for the tests need not be compiled again.
  const cache = `tsx-${process.getuid?.() ?? ''}`;
  if (existsSync(join(tmpdir(), cache))) symlinkSync(join(tmpdir(), cache), join(tmp, cache));
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [...nodeArgs('loadtest/drill-command.ts'), ...args], {
    cwd: projectDir,
    // TMPDIR marks it and all that it starts.
    env: { PATH, HOME, TMPDIR: tmp, ...env },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal));
  });

  return {
    stdout: () => stdout,
    stderr: () => stderr,
    /** Resolves with the exit code, or with the signal that ended it. */
    ended,
    /** Resolves when it has printed this so often. Rejects when it ends before. */
    async prints(text: string, times = 1): Promise<void> {
      let isOver = false;
      void ended.then(() => {
        isOver = true;
      });
      while (stdout.split(text).length <= times) {
        if (isOver) throw new Error(`It ended without printing "${text}": ${stdout}\n${stderr}`);
        await sleep(5);
      }
    },
    pressEnter: () => void child.stdin.write('\n'),
    /** The terminal is closed: nothing will be typed any more. */
    endInput: () => void child.stdin.end(),
    signal: (name: NodeJS.Signals) => void child.kill(name),
    /** The temporary files and the processes that are left of it. */
    leftovers: () => [...readdirSync(tmp).filter((name) => !name.startsWith('tsx-')), ...processesOf(tmp)],
    remove: () => rmSync(tmp, { recursive: true, force: true }),
  };
}

/** Those that were given `tmp` as TMPDIR, or that work in it. Only Linux tells. */
function processesOf(tmp: string): string[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter(
      (pid) =>
        read(() => readFileSync(`/proc/${pid}/environ`, 'utf8')).includes(`TMPDIR=${tmp}\0`) ||
        folderOf(pid).startsWith(tmp),
    )
    .map((pid) => `${pid} ${read(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ')}`);
}

const folderOf = (pid: string) => read(() => readlinkSync(`/proc/${pid}/cwd`));

function read(look: () => string): string {
  try {
    return look();
  } catch {
    // The process has ended meanwhile.
    return '';
  }
}
