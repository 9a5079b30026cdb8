// A node is killed when it has been given a payment, and has not yet booked it. Is the payment lost?

import { NotStagedError } from '../../evidence/not-staged.ts';
import type { TargetNode } from '../../harness/target.ts';
import {
  holdingOrder,
  judgeBooking,
  linkOf,
  orderToPay,
  pendingOf,
  sendPayment,
  waitingBookings,
} from '../payments.ts';
import type { KeyDrill, PurchaseTestBed } from '../purchase.ts';

export const killedAtWork: KeyDrill = {
  name: 'killed-at-work',
  needs: ['node processes', 'links'],
  async run(testBed) {
    const order = await orderToPay(testBed);
    await testBed.step(
      `One message pays half of order ${order.id.slice(0, 8)}. The node that is given it is killed before it has booked the payment.`,
    );
    const { message, dead } = await holdingOrder(testBed, order.id, () => killAtWork(testBed, order));
    await testBed.until(
      `The transaction of ${dead.name} is still there.`,
      async () => (await waitingBookings(testBed)) === 0,
    );
    return judgeBooking(testBed, { order: order.id, message, what: `${dead.name} is killed (SIGKILL)` });
  },
};

/** Kills the node that waits for the order's row. */
async function killAtWork(testBed: PurchaseTestBed, order: { id: string; amount: number }) {
  const acknowledged = new Map<string, TargetNode>();
  const ends = testBed.nodes.map((node) =>
    linkOf(node).watch(({ name, args }) => {
      if (name === 'XACK') for (const id of args) acknowledged.set(String(id), node);
    }),
  );
  try {
    const message = await sendPayment(testBed, order.id, order.amount / 2);
    await testBed.until('No node has come to book the payment.', async () => (await waitingBookings(testBed)) > 0);
    const [pending] = await pendingOf(testBed);
    // Of a message that is acknowledged Redis no longer knows whose it was.
    const dead = testBed.nodes.find(({ name }) => name === pending?.consumer) ?? acknowledged.get(message);
    if (dead === undefined) throw new NotStagedError('Nobody knows which node was given the message.');
    await testBed.kill(dead);
    return { message, dead };
  } finally {
    for (const end of ends) end();
  }
}
