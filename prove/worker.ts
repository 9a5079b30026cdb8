// A process that checks cells one after another, as they are sent to it.

import { answerTasks } from '../stack/worker-process.ts';
import { proveCells, type SharedTask } from './cell.ts';

answerTasks((task: SharedTask) =>
  proveCells(task).then(
    (cells) => ({ cells }),
    (error: Error) => ({ problem: error.message }),
  ),
);
