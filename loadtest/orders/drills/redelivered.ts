// Payments come through a Redis stream. A consumer is killed between its work and its XACK, so the same message comes again.

import { NotStagedError } from '../../evidence/not-staged.ts';
import { countOf } from '../../evidence/numbers.ts';
import type { TargetNode } from '../../harness/target.ts';
import { isTakenOver, linkOf, orderToPay, paymentsOf, pendingOf, sendPayment } from '../payments.ts';
import type { KeyDrill } from '../purchase.ts';
import { judgeOnce } from '../shop.ts';

export const redelivered: KeyDrill = {
  name: 'redelivered',
  needs: ['node processes', 'links'],
  async run(testBed) {
    const { nodes, until, say } = testBed;
    const order = await orderToPay(testBed);
    await testBed.step(
      `One message pays half of order ${order.id.slice(0, 8)}. The node that books the payment is killed before its XACK.`,
    );
    let dead: TargetNode | undefined;
    const acks = nodes.map((node) => {
      const ack = linkOf(node).holdNext('XACK');
      ack.arrived.then(() => (dead ??= node)).catch(() => {});
      return ack;
    });
    try {
      const message = await sendPayment(testBed, order.id, order.amount / 2);
      const { name } = await until('No node has sent an XACK.', async () => dead);
      await until(
        `${name} sent its XACK, and had booked nothing.`,
        async () => (await paymentsOf(testBed, order.id))[0],
      );
      await say(`${name} has booked the payment. Its XACK is held on its way.`);
      if (dead) await testBed.kill(dead);
      const [left] = await pendingOf(testBed);
      if (left?.id !== message || left.consumer !== name || left.deliveries > 1) {
        throw new NotStagedError(`${name} had acknowledged its message before it was killed, or another node had it.`);
      }
      await say(`${name} is killed (SIGKILL). The message is pending, and ${name} has it (XPENDING).`);
      // The dead node's XACK never arrives, and the one of its heir passes.
      for (const ack of acks) ack.drop();
      if (!(await isTakenOver(testBed))) throw new NotStagedError('No node has taken the message over.');

      const payments = await paymentsOf(testBed, order.id);
      return judgeOnce(payments.length === 1, {
        count: `${countOf(payments.length, 'payment')} for one message`,
        how: `the node that took it over did not know that ${name} had booked it`,
        figures: { messages: 1, payments: payments.length },
        witnesses: payments.map(({ id }) => `payment ${id} of order ${order.id}`),
      });
    } finally {
      for (const ack of acks) ack.drop();
    }
  },
};
