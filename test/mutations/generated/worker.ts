// A process that judges mutants, one after the other, as they are sent to it.

import { answerTasks } from '../../../stack/worker-process.ts';
import { type Judgement, judge, type Usual, usualOf } from './judge.ts';
import type { Difference } from './scene.ts';

export type Task =
  | { lock: string; usual?: undefined }
  | { lock: string; file: string; text: string; usual: Usual; dir: string; number: number };

let difference: Difference | undefined;

answerTasks((task: Task): Promise<Usual | Judgement> => {
  difference = undefined;
  if (task.usual === undefined) return usualOf(task.lock);
  return judge(task, `${task.dir}/${task.number}`, (found) => {
    difference = found;
  });
});

process.on('uncaughtException', (error) => {
  const caughtBy = { name: 'its process', reason: `A process dies of an unhandled error: ${error}` };
  process.send?.({ difference, caughtBy } satisfies Judgement, () => process.exit(1));
});
