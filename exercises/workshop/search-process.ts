// A process that judges one file by the search, scope after scope. It ends when its parent does.

import { proveCell } from '../../prove/cell.ts';
import { readLock } from '../../prove/sandbox.ts';
import { scopes as allScopes } from '../../prove/scopes.ts';
import { isRestless } from './restless.ts';
import type { FromSearch, SearchTask } from './search-messages.ts';

/** How often it says that it is there, in milliseconds. */
const SIGN_EVERY_MS = 250;

// Nobody waits for an answer any more when the other end has gone.
const send = (message: FromSearch) => void process.send?.(message, () => {});

process.on('message', async (task: SearchTask) => {
  try {
    await judge(task);
  } catch (error) {
    send({ type: 'problem', problem: (error as Error).message });
  }
  send({ type: 'done' });
});
process.on('disconnect', () => process.exit());
// The other end may have gone before this one could listen.
if (!process.connected) process.exit();
setInterval(() => send({ type: 'alive' }), SIGN_EVERY_MS);
send({ type: 'ready' });

async function judge({ file, scopes, processes, sales, isAtOnce, seconds }: SearchTask) {
  const openLock = await readLock(file);
  const command = await isRestless(openLock, processes);
  if (command !== undefined) return send({ type: 'restless', command });
  for (const scope of scopes) {
    // Some scopes show nothing with fewer.
    const least = allScopes.find(({ name }) => name === scope)?.processes ?? 0;
    const size = { processes: Math.max(processes, least), sales, masters: 0, ...(isAtOnce && { isAtOnce }) };
    const cell = await proveCell({ stage: 'lock.ts', file, scope, ...size, budget: {}, seconds });
    send({ type: 'cell', cell });
  }
}
