import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, getPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startSpinners } from '../../../../loadtest/bench/spinners.ts';
import { projectDir } from '../../../../stack/parts.ts';

const isLinux = process.platform === 'linux';
const hasChrt = isLinux && spawnSync('chrt', ['--version']).status === 0;
const SCHED_IDLE = 5;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A line of /proc behind its name; nothing where there is none. */
function statOf(pid: number): string[] {
  const line = isLinux ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
  return line.slice(line.lastIndexOf(')') + 2).split(' ');
}

test('spinners: one for each CPU works, has the lowest priority, and ends when it is stopped or its end is told', async () => {
  const deaths: string[] = [];
  const spinners = await startSpinners((sentence) => deaths.push(sentence));
  const { pids, count, priority } = spinners;
  try {
    expect([count, new Set(pids).size]).toEqual([availableParallelism(), availableParallelism()]);
    expect(pids.every(isAlive)).toBe(true);
    const hasWorked = (pid: number) => !isLinux || Number(statOf(pid)[11]) + Number(statOf(pid)[12]) > 0;
    await expect.poll(() => pids.every(hasWorked)).toBe(true);
    for (const pid of pids) {
      expect(getPriority(pid)).toBe(19);
      if (hasChrt) expect(Number(statOf(pid)[38])).toBe(SCHED_IDLE);
      const session = `/proc/${pid}/autogroup`;
      if (existsSync(session)) expect(readFileSync(session, 'utf8')).toMatch(/ nice 19$/m);
    }
    expect(priority).toBe(hasChrt ? 'SCHED_IDLE' : 'nice 19');

    process.kill(Number(pids[0]), 'SIGKILL');
    await expect.poll(() => deaths).toEqual([expect.stringMatching(/^spinner 1 was killed by SIGKILL/)]);
  } finally {
    await spinners.stop();
  }
  expect(pids.some(isAlive)).toBe(false);
});

test('spinners: one whose parent is gone ends, though it never sleeps', async () => {
  const spinner = spawn(process.execPath, [join(projectDir, 'loadtest/bench/spinner.mjs')], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  try {
    await once(spinner, 'message');
    spinner.send({ spin: true });
    await sleep(50);
    expect(spinner.exitCode).toBeNull();
    spinner.disconnect();
    const [code] = await once(spinner, 'exit', { signal: AbortSignal.timeout(10_000) });
    expect(code).toBe(0);
  } finally {
    spinner.kill('SIGKILL');
  }
});
