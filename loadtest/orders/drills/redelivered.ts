// Payments come through a Redis stream. A consumer is killed between its work and its XACK, so the same message comes again.

import { refusedKey } from '../../../services/inventory/orders/payments/stream.ts';
import { NotStagedError } from '../../evidence/not-staged.ts';
import { countOf, formatDuration } from '../../evidence/numbers.ts';
import type { Judgement } from '../../harness/play.ts';
import type { TargetNode } from '../../harness/target.ts';
import { linkOf, orderToPay, PATIENCE_MS, paymentsOf, pendingOf, sendPayment } from '../payments.ts';
import type { KeyDrill, PurchaseTestBed } from '../purchase.ts';
import { judgeOnce } from '../shop.ts';

export const redelivered: KeyDrill = {
  name: 'redelivered',
  needs: ['node processes', 'links'],
  async run(testBed) {
    const { nodes } = testBed;
    const order = await orderToPay(testBed);
    await testBed.step(
      `One message pays half of order ${order.id.slice(0, 8)}. The node that books the payment is killed before its XACK.`,
    );

    const holds = nodes.map((node) => ({ node, ack: linkOf(node).holdNext('XACK') }));
    try {
      const message = await sendPayment(testBed, order.id, order.amount / 2);
      const dead = await killBeforeAck(testBed, holds, order.id);
      await mustBeLeft(testBed, message, dead, order.id);
      const [heir] = nodes.filter((node) => node !== dead);
      if (heir === undefined) throw new NotStagedError('There is no other node.');
      // The dead node's XACK never arrives, and the one of its heir passes.
      for (const { ack } of holds) ack.drop();
      await untilTakenOver(testBed, message, heir);
      return judge(testBed, order.id, { dead, heir });
    } finally {
      for (const { ack } of holds) ack.drop();
    }
  },
};

/** Kills the node whose XACK is held, when MySQL has its payment. Throws NotStagedError. */
async function killBeforeAck(
  testBed: PurchaseTestBed,
  holds: { node: TargetNode; ack: { arrived: Promise<unknown> } }[],
  order: string,
): Promise<TargetNode> {
  const { until } = testBed;
  let came: TargetNode | undefined;
  for (const { node, ack } of holds) {
    void ack.arrived.then(
      () => (came ??= node),
      () => {},
    );
  }
  const node = await until('No node has sent an XACK.', async () => came);
  await until(`${node.name} sent its XACK, and had booked nothing.`, async () => (await paymentsOf(testBed, order))[0]);
  await testBed.say(`${node.name} has booked the payment. Its XACK is held on its way.`);
  await testBed.kill(node);
  return node;
}

/** Throws NotStagedError unless the message is still the dead node's, who has booked it once. */
async function mustBeLeft(testBed: PurchaseTestBed, message: string, dead: TargetNode, order: string) {
  const [left] = await pendingOf(testBed);
  if (left?.id !== message) throw new NotStagedError(`${dead.name} had acknowledged its message before it was killed.`);
  if (left.consumer !== dead.name || left.deliveries > 1 || (await paymentsOf(testBed, order)).length > 1) {
    throw new NotStagedError(`The message of ${dead.name} was taken over before ${dead.name} was killed.`);
  }
  await testBed.say(`${dead.name} is killed (SIGKILL). The message is pending, and ${dead.name} has it (XPENDING).`);
}

/** Resolves when the other node has claimed the message and acknowledged it. Throws NotStagedError when it does not in time, or puts it aside. */
async function untilTakenOver(testBed: PurchaseTestBed, message: string, heir: TargetNode) {
  const startedAt = performance.now();
  const sent: string[] = [];
  const end = linkOf(heir).watch(({ name, args }) => {
    if (args.includes(message)) sent.push(name);
  });
  try {
    const otherwise = `${heir.name} has not taken the message over within ${formatDuration(PATIENCE_MS)}.`;
    const isDone = async () =>
      sent.includes('XCLAIM') && sent.includes('XACK') && (await pendingOf(testBed)).length === 0;
    await testBed.until(otherwise, isDone, PATIENCE_MS);
    // It was acknowledged, and nobody has looked whether it is booked.
    if ((await testBed.redis.xlen(refusedKey)) > 0) throw new NotStagedError(`${heir.name} has put the message aside.`);
  } finally {
    end();
  }
  const tookMs = performance.now() - startedAt;
  await testBed.say(`${heir.name} takes it over (XCLAIM), and acknowledges it, ${formatDuration(tookMs)} later.`);
}

/** What MySQL says: one message is one payment. */
async function judge(
  testBed: PurchaseTestBed,
  order: string,
  { dead, heir }: Record<'dead' | 'heir', TargetNode>,
): Promise<Judgement> {
  const payments = await paymentsOf(testBed, order);
  const [row] = await testBed.query<{ status: string }>('SELECT status FROM tb_order WHERE id = ?', [order]);
  return judgeOnce(payments.length === 1, {
    count: `${countOf(payments.length, 'payment')} for one message`,
    how: `${heir.name} did not know that ${dead.name} had booked it. Half is paid, and the order is ${row?.status}`,
    figures: { messages: 1, payments: payments.length },
    witnesses: payments.map(({ id }) => `payment ${id} of order ${order}`),
  });
}
