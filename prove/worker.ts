// A process that proves cells one after the other, as they are sent to it.

import { answerTasks } from '../stack/worker-process.ts';
import { proveCells, type SharedTask } from './cell.ts';

answerTasks((task: SharedTask) =>
  proveCells(task).then(
    (cells) => ({ cells }),
    (error: Error) => ({ problem: error.message }),
  ),
);
