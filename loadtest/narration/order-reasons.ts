// English sentences for the verdicts of the order drills. The Chinese is in order-reasons.zh.ts.

import { countOf, formatDuration, formatNumber } from './numbers.ts';

interface OfTicks {
  node: string;
  ticks: number;
}

export const orderReasons = {
  // Runs of the clean-up.
  'units came back': ({ restored, due, open }: { restored: number; due: number; open: number }) =>
    `${countOf(restored, 'unit was', 'units were')} restored for ${countOf(due, 'due order')}.${open > 0 ? ` ${countOf(open, 'order is', 'orders are')} still open.` : ''}`,
  'ticks overlapped': ({ node, ticks }: OfTicks) =>
    `${countOf(ticks, 'run')} on ${node} started while another run was in progress.`,
  'no tick overlapped': ({ node }: Pick<OfTicks, 'node'>) =>
    `No run on ${node} started while another run was in progress.`,
  'ticks piled up': ({ node, ticks }: OfTicks) =>
    `${countOf(ticks, 'overdue run')} on ${node} followed at once, one after another.`,
  'ticks came late': ({ node, ticks }: OfTicks) =>
    `${countOf(ticks, 'run')} on ${node} started late: the other job blocked the event loop.`,
  'no tick came late': ({ node }: Pick<OfTicks, 'node'>) => `Every run on ${node} started on time.`,
  'no ticks piled up': ({ node }: Pick<OfTicks, 'node'>) => `No overdue runs followed the slow run on ${node}.`,

  // Orders, refunds and payments for one intent.
  'orders for one purchase': ({ orders }: { orders: number }) => `${countOf(orders, 'order')} for one purchase.`,
  'orders nobody learns of': ({ orders }: { orders: number }) =>
    `${countOf(orders, 'order')} for one purchase, and the buyer never finds out.`,
  'refunds of one order': ({ refunds }: { refunds: number }) => `${countOf(refunds, 'refund')} of one order.`,
  'payments of one': ({ payments, messages }: { payments: number; messages: number }) =>
    `${countOf(payments, 'booking')} for one ${messages === 1 ? 'message' : 'payment that was sent twice'}.`,

  // A stock in MySQL and in Redis.
  'units sold of': ({ sold, units }: { sold: number; units: number }) =>
    `${countOf(sold, 'unit')} sold from a stock of ${formatNumber(units)}.`,
  'stores differ': ({ mysql, redis }: { mysql: number; redis: number }) =>
    `The stores differ: MySQL has ${formatNumber(mysql)}, Redis ${formatNumber(redis)}.`,
  'buyer turned away': ({ mysql }: { mysql: number }) =>
    `A buyer was refused, although MySQL had ${countOf(mysql, 'unit')}.`,
  'buyer got a unit': () => 'The buyer got the unit.',

  // The file of an exercise.
  'no node starts with the file': ({ why }: { why: string }) => `No node starts with your file: ${why}`,
  'node logged an error': ({ node, type, message }: { node: string; type: string; message: string }) =>
    `${node} reports an error: ${type}: ${message}.`,
  'file never ends': ({ ms }: { ms: number }) =>
    `Nothing has happened for ${formatDuration(ms)}: your file waits or computes forever.`,

  // Responses and accounts that do not add up.
  'units unexplained': ({ units }: { units: number }) => `${countOf(units, 'unit is', 'units are')} unaccounted for.`,
  'orders missing': ({ sold, orders }: { sold: number; orders: number }) =>
    `${countOf(sold, 'unit was', 'units were')} sold, but there ${orders === 1 ? 'is' : 'are'} ${countOf(orders, 'order')}.`,
  'more orders than sold': (of: { orders: number; inDoubt: number; sold: number; unanswered: number }) =>
    `${countOf(of.orders, 'order')} and ${countOf(of.inDoubt, 'unit')} in doubt, but only ${countOf(of.sold, 'unit')} sold and ${countOf(of.unanswered, 'response')} with an unknown outcome.`,
};
