// What the drills of the payments share: an order to pay, its message in the stream, and what became of both.

import { randomUUID } from 'node:crypto';
import { paymentsGroup, paymentsKey, refusedKey } from '../../services/inventory/orders/payments/stream.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { countOf, formatDuration } from '../evidence/numbers.ts';
import type { Judgement } from '../harness/play.ts';
import type { TargetNode } from '../harness/target.ts';
import { PAYMENT_MIN_IDLE_MS } from '../staircase/keys.ts';
import type { PurchaseTestBed } from './purchase.ts';
import { judgeOnce } from './shop.ts';

/** How long a message may stay pending that a node can take over, in milliseconds. */
const PATIENCE_MS = 10 * PAYMENT_MIN_IDLE_MS;

/** Sells a unit, in a request of its own without a key, and resolves with its order. */
export async function orderToPay({ first, sku, firstOrder, query }: PurchaseTestBed) {
  await fetch(new URL(`/inventory/sale?sku=${sku}`, first.publicUrl), { method: 'POST' });
  const { id } = await firstOrder();
  const [order] = await query<{ amount: number }>('SELECT amount FROM tb_order WHERE id = ?', [id]);
  return { id, amount: Number(order?.amount) };
}

/** Adds a payment to the stream, as its provider does: a new one, or one that has this key. Resolves with the id of the message. */
export async function sendPayment(
  { redis }: PurchaseTestBed,
  order: string,
  amount: number,
  key: string = randomUUID(),
): Promise<string> {
  const fields = ['order', order, 'amount', String(amount), 'key', key];
  return String(await redis.xadd(paymentsKey, '*', ...fields));
}

/** The payments of the order that MySQL has. */
export const paymentsOf = ({ query }: PurchaseTestBed, order: string) =>
  query<{ id: string }>("SELECT id FROM tb_payment WHERE order_id = ? AND kind = 'PAYMENT'", [order]);

/** The messages that nobody has acknowledged. */
export async function pendingOf({ redis }: PurchaseTestBed) {
  const rows = await redis.xpending(paymentsKey, paymentsGroup, '-', '+', 10);
  return (rows as [string, string, number, number][]).map(([id, consumer, , deliveries]) => ({
    id,
    consumer,
    deliveries,
  }));
}

/** The last message that a node was given. */
export async function lastGiven({ redis }: PurchaseTestBed): Promise<string | undefined> {
  const groups = (await redis.xinfo('GROUPS', paymentsKey)) as unknown[][];
  const fields = groups.find((group) => group.includes(paymentsGroup)) ?? [];
  return fields[fields.indexOf('last-delivered-id') + 1] as string | undefined;
}

/** What the node reaches Redis through. */
export function linkOf(node: TargetNode) {
  if (node.link === undefined) throw new NotStagedError(`${node.name} reaches Redis without a link.`);
  return node.link;
}

/** Has `act` done while nobody else can change the order: the booking of a payment waits for its row. */
export const holdingOrder = <T>({ holding }: PurchaseTestBed, id: string, act: () => Promise<T>) =>
  holding('SELECT id FROM tb_order WHERE id = ?', [id], act);

/** How many bookings wait for the row of their order. */
export const waitingBookings = ({ waitingStatements }: PurchaseTestBed) =>
  waitingStatements('SELECT id FROM tb_order%FOR UPDATE');

/**
 * Judges what became of a message whose booking came to nothing: it must be booked once. `what` tells in a clause why it came to
 * nothing. A message that nobody has acknowledged comes again; this waits for it. Throws NotStagedError.
 */
export async function judgeBooking(
  testBed: PurchaseTestBed,
  { order, message, what }: { order: string; message: string; what: string },
): Promise<Judgement> {
  const early = await paymentsOf(testBed, order);
  if (early.length > 0) throw new NotStagedError('The payment was booked all the same.');
  const wasPending = (await pendingOf(testBed)).some(({ id }) => id === message);
  await testBed.say(
    wasPending
      ? `${what}. The message is pending (XPENDING): it comes again.`
      : `${what}, and the message is acknowledged: it does not come again.`,
  );
  const isLeft = !(await isTakenOver(testBed));
  const payments = await paymentsOf(testBed, order);
  if (isLeft && payments.length === 0) throw new NotStagedError('No node has taken the message over.');
  const how =
    payments.length === 0
      ? `it was acknowledged before it was booked, so no node is given it again: the money is lost`
      : isLeft
        ? `nobody acknowledges it, so it comes again and again`
        : `it was booked each time that it came`;
  return judgeOnce(payments.length === 1 && !isLeft, {
    count: `${countOf(payments.length, 'payment')} for one message`,
    how,
    figures: { messages: 1, payments: payments.length },
    witnesses: [`message ${message} pays for order ${order}`, ...payments.map(({ id }) => `payment ${id}`)],
  });
}

/** Whether all that was given is acknowledged in time. Throws NotStagedError when a message was put aside: nobody has looked whether it is booked. */
export async function isTakenOver(testBed: PurchaseTestBed, limitMs = PATIENCE_MS): Promise<boolean> {
  const { until, say, redis } = testBed;
  const startedAt = performance.now();
  const isGone = async () => (await pendingOf(testBed)).length === 0;
  const isDone = await until('It is pending.', isGone, limitMs).catch((error) => {
    if (!(error instanceof NotStagedError)) throw error;
    return false;
  });
  if ((await redis.xlen(refusedKey)) > 0) throw new NotStagedError('The message was put aside.');
  if (isDone) await say(`It is acknowledged, ${formatDuration(performance.now() - startedAt)} later.`);
  return isDone;
}
