// Why a drill of the orders is judged as it is, in English. The Chinese is in order-reasons.zh.ts.

import { countOf, formatDuration, formatNumber } from './numbers.ts';

interface OfTicks {
  node: string;
  ticks: number;
}

export const orderReasons = {
  // Ticks of the clean-up.
  'units came back': ({ restored, due, open }: { restored: number; due: number; open: number }) =>
    `${countOf(restored, 'unit')} came back for ${countOf(due, 'that was', 'that were')} due.${open > 0 ? ` ${countOf(open, 'order')} still open.` : ''}`,
  'ticks overlapped': ({ node, ticks }: OfTicks) =>
    `${countOf(ticks, 'tick')} of ${node} began while another one of it was under way.`,
  'no tick overlapped': ({ node }: Pick<OfTicks, 'node'>) =>
    `No tick of ${node} began while another one of it was under way.`,
  'ticks piled up': ({ node, ticks }: OfTicks) =>
    `${countOf(ticks, 'tick')} of ${node} that were due meanwhile followed at once, one after the other.`,
  'ticks came late': ({ node, ticks }: OfTicks) =>
    `${countOf(ticks, 'tick')} of ${node} came late: the other job kept the event loop.`,
  'no tick came late': ({ node }: Pick<OfTicks, 'node'>) => `Every tick of ${node} came in time.`,
  'no ticks piled up': ({ node }: Pick<OfTicks, 'node'>) => `No pile of ticks followed the slow one of ${node}.`,

  // What is made of one intent.
  'orders for one purchase': ({ orders }: { orders: number }) => `${countOf(orders, 'order')} for one purchase.`,
  'orders nobody learns of': ({ orders }: { orders: number }) =>
    `${countOf(orders, 'order')} for one purchase, and the buyer never learns of it.`,
  'refunds of one order': ({ refunds }: { refunds: number }) => `${countOf(refunds, 'refund')} of one order.`,
  'payments of one': ({ payments, messages }: { payments: number; messages: number }) =>
    `${countOf(payments, 'payment')} for one ${messages === 1 ? 'message' : 'that was sent twice'}.`,

  // A stock that is in MySQL and in Redis.
  'units sold of': ({ sold, units }: { sold: number; units: number }) =>
    `${countOf(sold, 'unit')} sold of ${formatNumber(units)}.`,
  'stores differ': ({ mysql, redis }: { mysql: number; redis: number }) =>
    `The stores differ: MySQL has ${formatNumber(mysql)}, Redis ${formatNumber(redis)}.`,
  'buyer turned away': ({ mysql }: { mysql: number }) =>
    `A buyer was turned away, and MySQL had ${countOf(mysql, 'unit')}.`,
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
    `${formatNumber(sold)} were sold, and there are ${countOf(orders, 'order')}.`,
  'more orders than sold': (of: { orders: number; inDoubt: number; sold: number; unanswered: number }) =>
    `${countOf(of.orders, 'order')} and ${countOf(of.inDoubt, 'unit')} in doubt for ${formatNumber(of.sold)} that were sold and ${countOf(of.unanswered, 'answer')} that leave it open.`,
};
