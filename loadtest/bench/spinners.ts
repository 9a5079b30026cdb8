// Spinners: processes that keep the CPUs awake while the bench measures, and yield to all others.

import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { availableParallelism, constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Part, projectDir, startPart } from '../../stack/parts.ts';

/** Linux takes one nice value of a session in so many milliseconds, and refuses the others; how often each is tried. */
const SESSION_DELAY_MS = 110;
const SESSION_TRIES = 20;

/** `SCHED_IDLE`: Linux runs it when nothing else wants the CPU. `nice 19`: it has the smallest share that a process can have. */
type SpinnerPriority = 'SCHED_IDLE' | 'nice 19';

/**
 * Starts a spinner for each CPU. Each ends with this process, however that ends. `onDeath` is called with a sentence when one ends
 * before it is stopped. `stop` resolves when all have ended.
 */
export async function startSpinners(onDeath: (sentence: string) => void) {
  const parts: Part[] = [];
  let isStopping = false;
  async function stop() {
    isStopping = true;
    await Promise.all(parts.map((part) => part.stop()));
  }
  try {
    const priorities: SpinnerPriority[] = [];
    for (let cpu = 1; cpu <= availableParallelism(); cpu += 1) {
      const part = await startSpinner(`spinner ${cpu}`);
      parts.push(part);
      void part.ended.then((sentence) => isStopping || onDeath(sentence));
      priorities.push(await lowerPriority(part.pid));
      part.send({ spin: true });
    }
    const priority: SpinnerPriority = priorities.every((each) => each === 'SCHED_IDLE') ? 'SCHED_IDLE' : 'nice 19';
    return { count: parts.length, pids: parts.map(({ pid }) => pid), priority, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** It starts at the usual priority, or it might not be ready for long on a busy machine, and works when it is told to. */
function startSpinner(name: string): Promise<Part> {
  let isReady = false;
  return startPart({
    name,
    command: process.execPath,
    args: [join(projectDir, 'loadtest/bench/spinner.mjs')],
    isReady: async () => isReady,
    onMessage() {
      isReady = true;
    },
  });
}

async function lowerPriority(pid: number): Promise<SpinnerPriority> {
  setPriority(pid, constants.priority.PRIORITY_LOW);
  await lowerSession(`/proc/${pid}/autogroup`);
  const isIdle = process.platform === 'linux' && spawnSync('chrt', ['-i', '-p', '0', String(pid)]).status === 0;
  return isIdle ? 'SCHED_IDLE' : 'nice 19';
}

/**
 * Where Linux groups processes by their session, each session has the same share of a CPU, whatever the priority of its processes:
 * a spinner, whose session is its own, would take half of a CPU from the others.
 */
async function lowerSession(file: string) {
  for (let tries = 1; existsSync(file); tries += 1) {
    try {
      writeFileSync(file, String(constants.priority.PRIORITY_LOW));
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || tries === SESSION_TRIES) throw error;
      await sleep(SESSION_DELAY_MS);
    }
  }
}
