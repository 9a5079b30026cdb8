// A process that proves cells one after the other, as they are sent to it.

import { SIGN_EVERY_MS } from '../virtual/signs.ts';
import { proveCell, type Task } from './cell.ts';

process.on('message', async (task: Task) => {
  sayAlive();
  const answer = await proveCell(task).then(
    (cell) => ({ cell }),
    (error: Error) => ({ problem: error.message }),
  );
  // Nobody waits for the answer any more when the other end has gone.
  process.send?.(answer, () => {});
});
process.on('disconnect', () => process.exit());
setInterval(sayAlive, SIGN_EVERY_MS);

function sayAlive() {
  process.send?.('alive', () => {});
}
