// Asks a thread of "you are the scheduler", and ends it.

import { Worker } from 'node:worker_threads';
import { bundledArgs } from '../../../scripts/stack/bundle.ts';
import type { LevelTask } from './levels.ts';
import type { Answer, Calls, Question } from './thread.ts';

export type Thread = Awaited<ReturnType<typeof startThread>>;

interface Asker {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** What a thread may use, in megabytes. */
const MOST_MEMORY_MB = 900;

const THREAD = 'live/server/puzzle/thread.ts';

/** Makes what a thread runs, so that the first level opens sooner. */
export async function prepareThreads() {
  await bundledArgs(THREAD);
}

/** Starts a thread that has this level open. Rejects when it can't be opened. */
export async function startThread(task: LevelTask) {
  const [flag = '', file = ''] = await bundledArgs(THREAD);
  const worker = new Worker(file, {
    execArgv: [flag, '--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
  });
  const askers = new Map<number, Asker>();
  let lastId = 0;
  let end: Error | undefined;

  worker.on('message', (answer: Answer) => {
    const asker = askers.get(answer.id);
    askers.delete(answer.id);
    if ('problem' in answer) asker?.reject(new Error(answer.problem));
    else asker?.resolve(answer.value);
  });
  worker.on('error', (error) => endAll(error instanceof Error ? error : new Error(String(error))));
  worker.on('exit', () => endAll(new Error('The thread of the game has ended.')));

  function endAll(error: Error) {
    end ??= error;
    for (const asker of askers.values()) asker.reject(end);
    askers.clear();
  }

  function ask<Call extends keyof Calls>(call: Call, ...args: Parameters<Calls[Call]>): ReturnType<Calls[Call]> {
    const answer = new Promise((resolve, reject) => {
      if (end) return reject(end);
      lastId += 1;
      askers.set(lastId, { resolve, reject });
      worker.postMessage({ id: lastId, call, args } satisfies Question);
    });
    return answer as ReturnType<Calls[Call]>;
  }

  await ask('open', task).catch(async (error) => {
    await worker.terminate();
    throw error;
  });
  return { ask, end: () => worker.terminate() };
}
