import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, getPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { type Spinners, startSpinners } from '../../../../loadtest/bench/spinners.ts';
import { projectDir } from '../../../../scripts/stack/parts.ts';

const isLinux = process.platform === 'linux';
const hasChrt = isLinux && spawnSync('chrt', ['--version']).status === 0;
let spinners: Spinners | undefined;
const deaths: string[] = [];

afterEach(async () => {
  await spinners?.stop();
  spinners = undefined;
  deaths.length = 0;
});

describe('spinners', () => {
  test('there is one for each CPU, all work, and none is left when they are stopped', async () => {
    spinners = await startSpinners((sentence) => deaths.push(sentence));
    const { pids, count } = spinners;

    expect([count, new Set(pids).size]).toEqual([availableParallelism(), availableParallelism()]);
    expect(pids.every(isAlive)).toBe(true);
    await expect.poll(() => pids.every((pid) => workedMs(pid) > 0), { timeout: 10_000 }).toBe(true);
    await spinners.stop();
    expect(pids.some(isAlive)).toBe(false);
    expect(deaths).toEqual([]);
  });

  test('each has the lowest priority, and so has its session', async () => {
    spinners = await startSpinners(() => {});

    for (const pid of spinners.pids) {
      expect(getPriority(pid)).toBe(19);
      if (hasChrt) expect(policyOf(pid)).toBe(SCHED_IDLE);
      const session = `/proc/${pid}/autogroup`;
      if (existsSync(session)) expect(readFileSync(session, 'utf8')).toMatch(/ nice 19$/m);
    }
    expect(spinners.priority).toBe(hasChrt ? 'SCHED_IDLE' : 'nice 19');
  });

  test('one that ends by itself is told, once', async () => {
    spinners = await startSpinners((sentence) => deaths.push(sentence));
    process.kill(Number(spinners.pids[0]), 'SIGKILL');

    await expect.poll(() => deaths, { timeout: 10_000 }).toHaveLength(1);
    expect(deaths[0]).toMatch(/^spinner 1 was ended by SIGKILL/);
  });

  test('one whose parent is gone ends, though it never sleeps', async () => {
    const spinner = spawn(process.execPath, [join(projectDir, 'loadtest/bench/spinner.mjs')], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    try {
      await once(spinner, 'message');
      spinner.send({ spin: true });
      await sleep(50);
      expect(spinner.exitCode).toBeNull();
      spinner.disconnect();
      expect(await endOf(spinner)).toBe(0);
    } finally {
      spinner.kill('SIGKILL');
    }
  });
});

const SCHED_IDLE = 5;

/** Field 41 of its line in /proc. */
function policyOf(pid: number): number {
  return Number(statOf(pid)[38]);
}

/** CPU time in ticks of 10 ms, on Linux; elsewhere nobody tells, and it counts as having worked. */
function workedMs(pid: number): number {
  if (!isLinux) return 1;
  const stat = statOf(pid);
  return 10 * (Number(stat[11]) + Number(stat[12]));
}

/** Its line in /proc behind its name. */
function statOf(pid: number): string[] {
  const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return line.slice(line.lastIndexOf(')') + 2).split(' ');
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function endOf(child: ChildProcess): Promise<number | null> {
  const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(10_000) });
  return code;
}
