// Records the traffic between the copies of a service and Redis during a drill, for display.

import type { Exchange } from '../../../stack/proxy/link.ts';
import type { ExchangeTold } from '../../evidence/judgement.ts';
import type { Wire } from '../../harness/wire.ts';
import { keysOf, kindOf, names, type StockPlace, shortened, toldCommand, toldReply } from './command-kinds.ts';
import type { ForeignNode } from './node.ts';

/** So many commands are kept of a drill. */
const MOST = 300;
const LONGEST = 60;
/** What a client says to be there, and what ends a transaction, without a key. */
const transaction = new Set(['MULTI', 'EXEC', 'DISCARD', 'UNWATCH', 'BEGIN', 'START', 'COMMIT', 'ROLLBACK']);
const talkInSql = new Set(['PING', 'RESET', 'PREPARE']);
const talk = new Set(['PING', 'INFO', 'HELLO', 'AUTH', 'SELECT', 'CLIENT', 'COMMAND', 'ECHO', 'QUIT', 'SCRIPT']);

type Shown = Pick<StockPlace, 'row'> & { showsAll?: boolean };

/** A command and its reply, as they are shown: of keys that are neither of the stock nor of the lock no value, unless `showsAll`. */
export function toldOf({ command, reply }: Exchange, wire: Wire, { row, showsAll = false }: Shown) {
  // What a transaction is answered may be of any key.
  const isOfTransaction = transaction.has(command.name) && !reply.text.startsWith('[');
  const isShown =
    showsAll ||
    isOfTransaction ||
    wire.isOfLock(command) ||
    (row ? names(command, { stock: '', row }) : keysOf(command).includes(wire.stockKey));
  return {
    command: isShown ? toldCommand(command) : `${kindOf(command)} …`,
    answer: isShown ? shortened(toldReply(reply, showsAll ? undefined : row), LONGEST) : '…',
  };
}

/** Records what passes until it is closed. */
export function recordExchanges(nodes: readonly ForeignNode[], wire: Wire, shown: Shown) {
  let startedAt = performance.now();
  let told: ExchangeTold[] = [];

  const ends = nodes.map(({ name: node, link }) =>
    link.watchReplies((exchange) => {
      const { command, sentAt } = exchange;
      if (told.length === MOST || (command.isSql ? talkInSql : talk).has(command.name)) return;
      const ms = Math.max(0, Math.round(sentAt - startedAt));
      told.push({ ms, node, ...toldOf(exchange, wire, shown) });
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
