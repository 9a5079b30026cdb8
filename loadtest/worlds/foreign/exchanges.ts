// What passes between the copies of a service and Redis while a drill is played, as it is shown.

import type { ExchangeTold } from '../../evidence/judgement.ts';
import type { Wire } from '../../harness/wire.ts';
import { keysOf, kindOf, names, type StockPlace, shortened, toldCommand, toldReply } from './command-kinds.ts';
import type { Copy } from './stack.ts';

/** So many commands are kept of a drill. */
const MOST = 300;
const LONGEST = 60;
/** What a client says to be there, and what ends a transaction, without a key. */
const transaction = new Set(['MULTI', 'EXEC', 'DISCARD', 'UNWATCH', 'BEGIN', 'START', 'COMMIT', 'ROLLBACK']);
const talkInSql = new Set(['PING', 'RESET', 'PREPARE']);
const talk = new Set(['PING', 'INFO', 'HELLO', 'AUTH', 'SELECT', 'CLIENT', 'COMMAND', 'ECHO', 'QUIT', 'SCRIPT']);

/**
 * Records what passes until it is closed. Of keys that are neither of the stock nor of the lock no value is shown, unless `showsAll`.
 */
export function recordExchanges(
  copies: readonly Copy[],
  wire: Wire,
  { showsAll = false, row }: { showsAll?: boolean; row?: StockPlace['row'] } = {},
) {
  let startedAt = performance.now();
  let told: ExchangeTold[] = [];

  const ends = copies.map(({ name: node, link }) =>
    link.watchReplies(({ command, reply, sentAt }) => {
      if (told.length === MOST || (command.isSql ? talkInSql : talk).has(command.name)) return;
      const isShown =
        showsAll ||
        transaction.has(command.name) ||
        wire.isOfLock(command) ||
        (row ? names(command, { stock: '', row }) : keysOf(command).includes(wire.stockKey));
      told.push({
        ms: Math.max(0, Math.round(sentAt - startedAt)),
        node,
        command: isShown ? toldCommand(command) : `${kindOf(command)} …`,
        answer: isShown ? shortened(toldReply(reply, showsAll ? undefined : row), LONGEST) : '…',
      });
    }),
  );
  return {
    /** The drill begins, or is played again: what was before is no part of it. */
    begin() {
      startedAt = performance.now();
      told = [];
    },
    told: () => told.toSorted((a, b) => a.ms - b.ms),
    close() {
      for (const end of ends) end();
    },
  };
}
