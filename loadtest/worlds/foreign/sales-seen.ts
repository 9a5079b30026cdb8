// Reconstructs the sales of a node from its traffic: a command of the lock, a read, a write.
//
// Nothing on the wire names a sale. Whose a command is follows from how many requests are under way at the node and from the
// connection that it comes on; where several sales share one, the oldest that fits has it.

import type { SaleEvent } from '../../../services/inventory/sale/contract.ts';
import type { Exchange, ReplyLink } from '../../../stack/proxy/link.ts';
import type { SaleAnswer } from '../../evidence/answers.ts';
import type { Clock } from '../../harness/clock.ts';
import type { Wire } from '../../harness/wire.ts';
import { stockIn } from './command-kinds.ts';

/** A request that is under way, or whose client has gone while it was. */
interface Sale {
  saleId: string;
  connection: number;
  is: 'waiting' | 'inside' | 'over';
  /** Its client has gone. */
  isGone: boolean;
  /** The stock that it has read last. */
  stock?: number;
}

/** What the wire of a service tells besides its keys. */
export interface SeenWire extends Pick<Wire, 'isStockRead' | 'isStockWrite' | 'isOfLock'> {
  /** What the reply to a reading of the stock says that there is; nothing when that is not known. */
  readUnits(exchange: Exchange): number | undefined;
  /** True when the reply to a write of the stock says that it was done. */
  hasWritten(exchange: Exchange): boolean;
  /** The sales of a node share one connection. */
  isShared: boolean;
}

/** Follows the sales of a node through its fault proxy. Calls `tell` with each event. */
export function seeSales(
  { name, link, clock }: { name: string; link: ReplyLink; clock: Clock },
  wire: () => SeenWire | undefined,
  tell: (event: SaleEvent) => void,
) {
  let numbered = 0;
  let underWay = 0;
  let writes = 0;
  let sales: Sale[] = [];
  /** Of requests whose sales have not begun, the oldest first. */
  const letters: string[] = [];
  /** A write that waits for its EXEC or COMMIT, by connection. */
  const queued = new Map<number, Exchange>();

  const emit = ({ saleId }: Sale, type: SaleEvent['type'], more: Partial<SaleEvent> = {}) =>
    tell({ at: clock.now(), type, node: name, saleId, ...more });

  /** The oldest that is so, and first of all the one on this connection. */
  const find = (is: Sale['is'], connection: number) =>
    sales.find((sale) => sale.is === is && sale.connection === connection) ?? sales.find((sale) => sale.is === is);

  const hasRoom = () => sales.filter(({ isGone }) => !isGone).length < underWay;

  function begin(connection: number): Sale {
    const sale: Sale = { saleId: String(++numbered).padStart(4, '0'), connection, is: 'waiting', isGone: false };
    sales.push(sale);
    const letter = letters.shift();
    emit(sale, 'waiting', letter ? { requestId: letter } : {});
    return sale;
  }

  link.watch((command) => {
    if (!wire()?.isOfLock(command) || !hasRoom()) return;
    begin(command.connection ?? 0);
  });

  link.watchReplies((exchange) => {
    const known = wire();
    if (known === undefined) return;
    const { command, reply } = exchange;
    const { connection = 0 } = command;
    if (known.isStockRead(command)) return read(connection, known.readUnits(exchange), known.isShared);
    if (known.isStockWrite(command)) {
      if (reply.isOpen || reply.text === 'QUEUED') return void queued.set(connection, exchange);
      return wrote(exchange, known.hasWritten(exchange));
    }
    const write = queued.get(connection);
    if (write === undefined || !['EXEC', 'DISCARD', 'COMMIT', 'ROLLBACK'].includes(command.name)) return;
    queued.delete(connection);
    if (command.name === 'COMMIT') {
      // Another may have the row before the answer is here.
      const at = clock.now() - (performance.now() - exchange.sentAt);
      return wrote(write, known.hasWritten(write) && reply.changed !== undefined, at);
    }
    wrote(write, command.name === 'EXEC' && reply.text.startsWith('['));
  });

  function read(connection: number, stock: number | undefined, isShared: boolean) {
    // One that has a connection to itself reads again after a write that was refused.
    const again = sales.find((each) => each.is === 'inside' && each.connection === connection && !each.isGone);
    const next = (isShared ? undefined : again) ?? find('waiting', connection);
    const sale = next ?? (hasRoom() ? begin(connection) : find('inside', connection));
    if (sale === undefined) return;
    if (sale.is === 'waiting') emit(sale, 'entered');
    Object.assign(sale, { is: 'inside', connection, stock });
    emit(sale, 'read', { ...(stock !== undefined && { stock }) });
  }

  function wrote({ command }: Exchange, isDone: boolean, at = clock.now()) {
    if (isDone) writes += 1;
    const stock = stockIn(command);
    // Of those who share a connection it is the one that has read one more.
    const { connection = 0 } = command;
    const here = sales.filter((each) => each.is === 'inside' && each.connection === connection);
    const sale = here.find((each) => each.stock === (stock ?? Number.NaN) + 1) ?? find('inside', connection);
    if (sale === undefined) return;
    if (!isDone) return emit(sale, 'conflict');
    emit(sale, 'wrote', { at, ...(stock !== undefined && { stock }) });
    leave(sale, at);
  }

  function leave(sale: Sale, at = clock.now()) {
    if (sale.is === 'inside') emit(sale, 'left', { at });
    sale.is = 'over';
    if (sale.isGone) sales = sales.filter((each) => each !== sale);
  }

  return {
    /** A request has been sent to the node, by its letter in the scenario. */
    came(letter = '') {
      underWay += 1;
      letters.push(letter);
    },
    /** It has its answer; none when its client has hung up, or the node has died. */
    ended(answer: SaleAnswer | undefined, letter = '') {
      underWay -= 1;
      if (letters.includes(letter)) letters.splice(letters.indexOf(letter), 1);
      const order = answer?.outcome === 'lockTimeout' ? ['waiting'] : ['over', 'inside', 'waiting'];
      const sale = order.flatMap((is) => sales.filter((each) => each.is === is && !each.isGone))[0];
      if (sale === undefined) return;
      if (answer === undefined && sale.is !== 'over') {
        // The service may go on with it, and nobody tells.
        sale.isGone = true;
        if (sale.is === 'waiting') emit(sale, 'failed', { code: 'CLIENT_GONE' });
        return;
      }
      if (sale.is === 'waiting') emit(sale, 'failed', { code: answer && 'code' in answer ? answer.code : '' });
      leave(sale);
      sales = sales.filter((each) => each !== sale);
    },
    /** How many requests the node has. */
    underWay: () => underWay,
    /** How many wait for the lock. */
    waiting: () => sales.filter(({ is, isGone }) => is === 'waiting' && !isGone).length,
    /** How many writes of the stock Redis has taken from this node. */
    writes: () => writes,
    /** The process has ended, and with it every sale. */
    forget() {
      sales = [];
      queued.clear();
    },
  };
}
