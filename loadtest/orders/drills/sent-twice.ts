// The provider of a payment has heard nothing of it, and sends it again: two messages with one key. How often is it booked?

import { randomUUID } from 'node:crypto';
import { countOf } from '../../evidence/numbers.ts';
import { PAYMENT_MIN_IDLE_MS } from '../../staircase/keys.ts';
import { isTakenOver, lastGiven, orderToPay, paymentsOf, sendPayment } from '../payments.ts';
import type { KeyDrill } from '../purchase.ts';
import { judgeOnce } from '../shop.ts';

/** How long a message that nobody works at may be pending, in milliseconds: by then it has come again, twice. */
const PATIENCE_MS = 3 * PAYMENT_MIN_IDLE_MS;

export const sentTwice: KeyDrill = {
  name: 'sent-twice',
  async run(testBed) {
    const { until, say } = testBed;
    const order = await orderToPay(testBed);
    const pay = (key: string) => sendPayment(testBed, order.id, order.amount / 2, key);
    const key = randomUUID();
    await testBed.step(`A payment of half of order ${order.id.slice(0, 8)} is sent, and sent again with the same key.`);
    await pay(key);
    await until('The payment was not booked.', async () => (await paymentsOf(testBed, order.id)).length > 0);
    await say('It is booked. Now it comes once more.');
    const again = await pay(key);

    await until('No node was given the second message.', async () => (await lastGiven(testBed)) === again);
    const isDone = await isTakenOver(testBed, PATIENCE_MS);
    const payments = await paymentsOf(testBed, order.id);
    return judgeOnce(isDone && payments.length === 1, {
      count: `${countOf(payments.length, 'payment')} for one that was sent twice`,
      how: isDone
        ? 'nothing told the second message from a new payment'
        : 'nobody acknowledges a message of it, which comes again and again',
      figures: { messages: 2, payments: payments.length },
      witnesses: payments.map(({ id }) => `payment ${id} of order ${order.id}`),
    });
  },
};
