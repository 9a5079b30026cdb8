// A process that proves cells one after the other, as they are sent to it.

import { answerTasks } from '../stack/worker-process.ts';
import { proveCell, type Task } from './cell.ts';

answerTasks((task: Task) =>
  proveCell(task).then(
    (cell) => ({ cell }),
    (error: Error) => ({ problem: error.message }),
  ),
);
