// A process that plays cells in the virtual world, one after the other, as they are sent to it.

import { SIGN_EVERY_MS } from '../../virtual/signs.ts';
import { endedBy, playCell, type VirtualTask } from './cell.ts';

let current: VirtualTask | undefined;

process.on('message', async (task: VirtualTask) => {
  current = task;
  sayAlive();
  const result = await playCell(task);
  // Nobody waits for the answer any more when the other end has gone.
  process.send?.(result, () => {});
});
process.on('uncaughtException', (error) => {
  if (current) process.send?.(endedBy(error, current), () => process.exit(1));
});
process.on('disconnect', () => process.exit());
setInterval(sayAlive, SIGN_EVERY_MS);

function sayAlive() {
  process.send?.('alive', () => {});
}
