// A process that plays cells in the virtual world, one after the other, as they are sent to it.

import { endedBy, playCell, type VirtualTask } from './cell.ts';

/** How often it says that it is there, in milliseconds: a lock that never comes back keeps it from that. */
const SIGN_EVERY_MS = 500;

let current: VirtualTask | undefined;

process.on('message', async (task: VirtualTask) => {
  current = task;
  const result = await playCell(task);
  // Nobody waits for the answer any more when the other end has gone.
  process.send?.(result, () => {});
});
process.on('uncaughtException', (error) => {
  if (current) process.send?.(endedBy(error, current), () => process.exit(1));
});
process.on('disconnect', () => process.exit());
setInterval(() => process.send?.('alive', () => {}), SIGN_EVERY_MS);
