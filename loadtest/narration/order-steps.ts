// English sentences for the steps of the order drills. The Chinese is in order-steps.zh.ts.

import { countOf, formatDuration, formatNumber, listOf } from './numbers.ts';

/** The values of a sentence: a node by its name, a run of the job by its letter, an order by the first digits of its id, a time in milliseconds. */
interface OfNode {
  node: string;
}
interface OfTick extends OfNode {
  /** Absent for a run without a letter. */
  tick?: string | undefined;
}
interface OfOrder extends OfNode {
  order: string;
}
interface AtStores extends OfNode {
  mysql: number;
  redis: number;
}
interface OfTime {
  ms: number;
}
/** A request and its response. */
interface OfAnswer {
  request: 'click' | 'repeat' | 'refund' | 'request';
  status: number;
  order?: string | undefined;
  code?: string | undefined;
}

const nameOf = (tick: string | undefined) => (tick === undefined ? 'A run of the job' : `Run ${tick}`);

export const orderSteps = {
  // Runs of the clean-up.
  'orders were due': ({ orders }: { orders: number }) => `${countOf(orders, 'order was', 'orders were')} due.`,
  'tick held': ({ tick, node, did, orders }: OfTick & { did: 'read' | 'closed' | 'restored'; orders: number }) =>
    `${nameOf(tick)} started on ${node}, ${did} ${countOf(orders, 'order')} and was held.`,
  'tick ran': ({ tick, node, restored }: OfTick & { restored: number }) =>
    `${nameOf(tick)} on ${node} finished and restored ${countOf(restored, 'unit')}.`,
  'tick skipped': ({ tick, node }: OfTick) => `${nameOf(tick)} on ${node} was skipped.`,
  'tick failed': ({ tick, node, code }: OfTick & { code: string }) => `${nameOf(tick)} on ${node} failed: ${code}.`,
  'ticks came': ({ node }: OfNode) => `The job started on ${node} again and again.`,
  'every tick skipped': ({ node, ms }: OfNode & OfTime) =>
    `Every run on ${node} was skipped for ${formatDuration(ms)}.`,
  'ticks kept waiting': ({ ticks }: { ticks: number }) =>
    `All runs resumed, and ${countOf(ticks, 'run')} waited for a row lock in MySQL.`,
  'ticks on time': ({ node, ms }: OfNode & OfTime) =>
    `${node} started to run the job by itself, every ${formatDuration(ms)}.`,
  'report was busy': ({ node, ms }: OfNode & OfTime) =>
    `A report on ${node} computed for ${formatDuration(ms)} and blocked the event loop.`,
  'report in slices': ({ node, ms }: OfNode & OfTime) =>
    `A report on ${node} computed for ${formatDuration(ms)}, with an await after each slice.`,
  'ticks by itself': ({ node, ms }: OfNode & OfTime) =>
    `${node} started to run the job by itself, every ${formatDuration(ms)}. The first run was held.`,
  'first tick took': ({ node, ms }: OfNode & OfTime) =>
    `The first run on ${node} had taken ${formatDuration(ms)} so far.`,
  'first tick resumed': ({ node }: OfNode) => `The first run on ${node} resumed.`,

  // Clicks: purchases with one idempotency key.
  'first click held': ({ node }: OfNode) => `The first click arrived at ${node} and was held inside its sale.`,
  'more clicks came': (of: { clicks: number; nodes: string[]; refused: number; waiting: number }) =>
    `${countOf(of.clicks, 'more click')} arrived at ${listOf(of.nodes)}: ${countOf(of.refused, 'was', 'were')} refused at once, and ${formatNumber(of.waiting)} waited for the lock of the sale.`,
  'first click resumed': () => 'The first click resumed.',
  'all requests answered': () => 'All requests got a response.',
  'clicks not answered': ({ ms }: OfTime) =>
    `A click arrived at each node, and neither got a response within ${formatDuration(ms)}.`,
  'click made an order': ({ order, node }: OfOrder) => `A click arrived at ${node} and created order ${order}.`,
  'click through nginx made an order': ({ order, node }: OfOrder) =>
    `A click arrived through nginx, as a GET, and created order ${order} on ${node}.`,
  'order made': ({ order, node }: OfOrder) => `Order ${order} was created on ${node}.`,
  'order made and paid': ({ order, node }: OfOrder) => `Order ${order} was created on ${node} and paid.`,

  // Responses that are lost, and repeated requests.
  'answers will be held': ({ nodes }: { nodes: string[] }) =>
    `${listOf(nodes)} ${nodes.length === 1 ? 'was' : 'were'} told to hold back the next response.`,
  'client hung up': ({ node }: OfNode) => `${node} had its response ready, and the client disconnected.`,
  'client had no answer': () => 'The client got no response.',
  'seller killed': ({ node, other }: OfNode & { other: string }) =>
    `${node}, which had created the order, was killed (SIGKILL), and ${other} was free to respond.`,
  'nginx passes requests on': () => 'This nginx has proxy_next_upstream on. Our configuration turns it off.',
  'nginx passed the click on': () => 'nginx sent the click to the other node as well.',
  'client repeats': ({ node }: OfNode) => `The client sent its request again, to ${node}.`,
  'request answered': ({ request, status, order, code }: OfAnswer) =>
    `The ${request} got the response ${status}${order ? ` with order ${order}` : code ? ` ${code}` : ''}.`,
  'request not answered': ({ request }: Pick<OfAnswer, 'request'>) => `The ${request} got no response.`,

  // Refunds, and servers that delay them.
  'refund came': ({ node }: OfNode) => `A refund arrived at ${node}.`,
  'refund kept waiting': ({ node }: OfNode) => `A refund arrived at ${node} and waited for the row lock of the order.`,
  'all answers delayed': ({ ms }: OfTime) =>
    `Redis and MySQL became slow: each of their replies was ${formatDuration(ms)} late.`,
  'orders locked': () => 'All orders were locked in MySQL: no node could change an order.',
  'orders and refunds locked': () =>
    'All orders and the refund table were locked in MySQL: no node could change an order or record a refund.',
  'orders unlocked': () => 'The orders were unlocked in MySQL.',

  // Payments that arrive through a stream.
  'XACK will be held': () => 'The next XACK of each node was set to be held on the way to Redis.',
  'message sent': () => 'A message with a payment for half of the order was sent.',
  'message sent again': () => 'The payment was sent again with the same key, and a node received the message.',
  'payment booked': () => 'The payment was booked.',
  'payment booked by': ({ node }: OfNode) => `${node} booked the payment and sent its XACK.`,
  'booker killed': ({ node }: OfNode) => `${node} was killed (SIGKILL), and its message was still pending (XPENDING).`,
  'booking came': () => 'A node started to book the payment and waited for the row lock of the order.',
  'consumer killed': ({ node }: OfNode) => `${node}, which had received the message, was killed (SIGKILL).`,
  'no booking waited': () => 'No booking was waiting any more.',
  'nothing booked, message pending': () =>
    'Nothing was booked yet, and the message was still pending (XPENDING): it will be delivered again.',
  'nothing booked, message acknowledged': () =>
    'Nothing was booked yet, but the message was already acknowledged: it will not be delivered again.',
  'messages unacknowledged': () => 'The drill waited until every message was acknowledged.',
  'messages acknowledged': ({ ms }: OfTime) => `Every message was acknowledged after ${formatDuration(ms)}.`,
  'message left pending': ({ ms }: OfTime) => `A message was still pending (XPENDING) after ${formatDuration(ms)}.`,
  'message orphaned': ({ node }: OfNode) => `The message waited for ${node} to claim it.`,
  'message taken over': ({ node, ms }: OfNode & OfTime) =>
    `${node} claimed the message and acknowledged it after ${formatDuration(ms)}.`,

  // A stock in MySQL and in Redis.
  'units in both stores': ({ units }: { units: number }) =>
    `MySQL and Redis each had ${countOf(units, 'unit')} in stock.`,
  'held between the stores': ({ sale, node, mysql, redis }: AtStores & { sale: string }) =>
    `${sale} arrived at ${node}, wrote ${mysql} to MySQL, and was held before its write to Redis, which still had ${redis}.`,
  'stock key expired': () => 'Redis lost the stock key.',
  'reader held': ({ node, mysql }: OfNode & { mysql: number }) =>
    `A reader on ${node} missed the key, read ${mysql} from MySQL, and was held before it wrote that to Redis.`,
  'reader filled': ({ redis }: { redis: number }) => `The reader resumed and wrote ${redis} to Redis.`,
  'deleted for the last time': ({ sale, deletes }: { sale: string; deletes: number }) =>
    `${sale} had sold, and its node had deleted the key ${deletes === 1 ? 'once' : 'twice'}.`,
  'killed before its delete': ({ node }: OfNode) => `${node} was killed (SIGKILL) before it deleted the key again.`,
  'old stock in Redis': ({ redis, mysql }: Omit<AtStores, 'node'>) =>
    `Redis had an old stock, ${redis}. MySQL had ${mysql}.`,

  // Kills at random, under load.
  'kills so far': ({ kills, sold }: { kills: number; sold: number }) =>
    `${countOf(kills, 'kill')}, ${countOf(sold, 'sale')} so far.`,
  'clean-up has work': ({ orders }: { orders: number }) =>
    `All buyers have left. The clean-up has ${countOf(orders, 'order')} to close.`,
};
