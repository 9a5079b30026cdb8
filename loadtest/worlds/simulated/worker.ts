// A process that plays cells in the simulation, one after another, as they are sent to it.

import { answerTasks } from '../../../stack/worker-process.ts';
import { endedBy, playCell, type VirtualTask } from './cell.ts';

let current: VirtualTask | undefined;

answerTasks((task: VirtualTask) => {
  current = task;
  return playCell(task);
});
process.on('uncaughtException', (error) => {
  if (current) process.send?.(endedBy(error, current), () => process.exit(1));
});
