// What happened in a step of a drill of the orders, in English. The Chinese is in order-steps.zh.ts.

import { countOf, formatDuration, formatNumber, listOf } from './numbers.ts';

/** What a sentence may name: a node by its name, a tick by its letter, an order by the first digits of its id, a time in milliseconds. */
interface OfNode {
  node: string;
}
interface OfTick extends OfNode {
  /** Absent of one that has no letter. */
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
/** What was sent, and the answer. */
interface OfAnswer {
  request: 'click' | 'repeat' | 'refund' | 'request';
  status: number;
  order?: string | undefined;
  code?: string | undefined;
}

const nameOf = (tick: string | undefined) => (tick === undefined ? 'A tick' : `Tick ${tick}`);

export const orderSteps = {
  // Ticks of the clean-up.
  'orders were due': ({ orders }: { orders: number }) => `${countOf(orders, 'order was', 'orders were')} due.`,
  'tick held': ({ tick, node, did, orders }: OfTick & { did: 'read' | 'closed' | 'restored'; orders: number }) =>
    `${nameOf(tick)} began at ${node}, ${did} ${countOf(orders, 'order')} and was held.`,
  'tick ran': ({ tick, node, restored }: OfTick & { restored: number }) =>
    `${nameOf(tick)} at ${node} ran and restored ${countOf(restored, 'unit')}.`,
  'tick skipped': ({ tick, node }: OfTick) => `${nameOf(tick)} at ${node} was skipped.`,
  'tick failed': ({ tick, node, code }: OfTick & { code: string }) => `${nameOf(tick)} at ${node} failed: ${code}.`,
  'ticks came': ({ node }: OfNode) => `Ticks came to ${node}, one after the other.`,
  'every tick skipped': ({ node, ms }: OfNode & OfTime) =>
    `Every tick at ${node} was skipped for ${formatDuration(ms)}.`,
  'ticks kept waiting': ({ ticks }: { ticks: number }) =>
    `All ticks resumed, and MySQL kept ${countOf(ticks, 'tick')} waiting.`,
  'ticks on time': ({ node, ms }: OfNode & OfTime) => `${node} began to tick by itself, every ${formatDuration(ms)}.`,
  'report was busy': ({ node, ms }: OfNode & OfTime) =>
    `A report of ${node} computed for ${formatDuration(ms)} and kept the event loop.`,
  'report in slices': ({ node, ms }: OfNode & OfTime) =>
    `A report of ${node} computed for ${formatDuration(ms)}, with an await after each slice.`,
  'ticks by itself': ({ node, ms }: OfNode & OfTime) =>
    `${node} began to tick by itself, every ${formatDuration(ms)}, and its first tick was held.`,
  'first tick took': ({ node, ms }: OfNode & OfTime) =>
    `The first tick of ${node} had been under way for ${formatDuration(ms)}.`,
  'first tick resumed': ({ node }: OfNode) => `The first tick of ${node} resumed.`,

  // Clicks: purchases with one idempotency key.
  'first click held': ({ node }: OfNode) => `The first click came to ${node} and was held inside its sale.`,
  'more clicks came': (of: { clicks: number; nodes: string[]; refused: number; waiting: number }) =>
    `${countOf(of.clicks, 'more click')} came to ${listOf(of.nodes)}: ${countOf(of.refused, 'was', 'were')} refused at once, and ${formatNumber(of.waiting)} waited for the lock of the sale.`,
  'first click resumed': () => 'The first click resumed.',
  'all requests answered': () => 'All requests were answered.',
  'clicks not answered': ({ ms }: OfTime) =>
    `A click came to both nodes, and neither was answered within ${formatDuration(ms)}.`,
  'click made an order': ({ order, node }: OfOrder) => `A click came to ${node} and made order ${order}.`,
  'click through nginx made an order': ({ order, node }: OfOrder) =>
    `A click came through nginx, as a GET, and made order ${order} on ${node}.`,
  'order made': ({ order, node }: OfOrder) => `Order ${order} was made on ${node}.`,
  'order made and paid': ({ order, node }: OfOrder) => `Order ${order} was made on ${node} and paid.`,

  // Answers that are lost, and repeats.
  'answers will be held': ({ nodes }: { nodes: string[] }) =>
    `${listOf(nodes)} ${nodes.length === 1 ? 'was' : 'were'} told to hold back the next answer.`,
  'client hung up': ({ node }: OfNode) => `${node} had its answer ready, and the client hung up.`,
  'client had no answer': () => 'The client got no answer.',
  'seller killed': ({ node, other }: OfNode & { other: string }) =>
    `${node}, which had made the order, was killed (SIGKILL), and ${other} was free to answer.`,
  'nginx passes requests on': () => 'This nginx has proxy_next_upstream on, which ours does not allow.',
  'nginx passed the click on': () => 'nginx sent the click to the other node as well.',
  'client repeats': ({ node }: OfNode) => `The client sent its request again, to ${node}.`,
  'request answered': ({ request, status, order, code }: OfAnswer) =>
    `The ${request} was answered ${status}${order ? ` with order ${order}` : code ? ` ${code}` : ''}.`,
  'request not answered': ({ request }: Pick<OfAnswer, 'request'>) => `The ${request} got no answer.`,

  // Refunds, and servers that keep them waiting.
  'refund came': ({ node }: OfNode) => `A refund came to ${node}.`,
  'refund kept waiting': ({ node }: OfNode) => `A refund came to ${node} and waited for the order.`,
  'all answers delayed': ({ ms }: OfTime) =>
    `Redis and MySQL became slow: each of their answers came ${formatDuration(ms)} late.`,
  'orders locked': () => 'All orders were locked in MySQL: nobody could change an order.',
  'orders and refunds locked': () =>
    'All orders were locked in MySQL, and the table of the refunds: nobody could change an order or write down a refund.',
  'orders unlocked': () => 'The orders were unlocked in MySQL.',

  // Payments that come through a stream.
  'XACK will be held': () => 'The next XACK of each node was set to be held on its way.',
  'message sent': () => 'A message paid half of the order.',
  'message sent again': () => 'The payment was sent again with its key, and a node was given the message.',
  'payment booked': () => 'The payment was booked.',
  'payment booked by': ({ node }: OfNode) => `${node} booked the payment and sent its XACK.`,
  'booker killed': ({ node }: OfNode) => `${node} was killed (SIGKILL), and its message was still pending (XPENDING).`,
  'booking came': () => 'A node came to book the payment and waited for the order.',
  'consumer killed': ({ node }: OfNode) => `${node}, which had been given the message, was killed (SIGKILL).`,
  'no booking waited': () => 'No booking waited any more.',
  'nothing booked, message pending': () =>
    'Nothing was booked yet, and the message was still pending (XPENDING): it comes again.',
  'nothing booked, message acknowledged': () =>
    'Nothing was booked yet, and the message was already acknowledged: it does not come again.',
  'messages unacknowledged': () => 'The drill waited until every message was acknowledged.',
  'messages acknowledged': ({ ms }: OfTime) => `Every message was acknowledged after ${formatDuration(ms)}.`,
  'message left pending': ({ ms }: OfTime) => `A message was still pending (XPENDING) after ${formatDuration(ms)}.`,
  'message orphaned': ({ node }: OfNode) => `The message waited to be taken over by ${node}.`,
  'message taken over': ({ node, ms }: OfNode & OfTime) =>
    `${node} took the message over and acknowledged it after ${formatDuration(ms)}.`,

  // A stock that is in MySQL and in Redis.
  'units in both stores': ({ units }: { units: number }) =>
    `MySQL and Redis each had ${countOf(units, 'unit')} in stock.`,
  'held between the stores': ({ sale, node, mysql, redis }: AtStores & { sale: string }) =>
    `${sale} came to ${node}, wrote ${mysql} to MySQL, and was held on its way to Redis, which still had ${redis}.`,
  'stock key expired': () => 'Redis lost the key of the stock.',
  'reader held': ({ node, mysql }: OfNode & { mysql: number }) =>
    `A reader at ${node} missed the key, read ${mysql} from MySQL, and was held on its way to fill Redis.`,
  'reader filled': ({ redis }: { redis: number }) => `The reader resumed and filled Redis with ${redis}.`,
  'deleted for the last time': ({ sale, deletes }: { sale: string; deletes: number }) =>
    `${sale} had sold, and its node had deleted the key ${deletes === 1 ? 'once' : 'twice'}.`,
  'killed before its delete': ({ node }: OfNode) => `${node} was killed (SIGKILL) before it deleted the key again.`,
  'old stock in Redis': ({ redis, mysql }: Omit<AtStores, 'node'>) =>
    `Redis had ${redis}, an older stock, and MySQL ${mysql}.`,

  // Kills at random, under load.
  'kills so far': ({ kills, sold }: { kills: number; sold: number }) =>
    `${countOf(kills, 'kill')}, ${countOf(sold, 'sale')} so far.`,
  'clean-up has work': ({ orders }: { orders: number }) =>
    `Nobody buys any more. The clean-up has ${countOf(orders, 'order')} to do.`,
};
