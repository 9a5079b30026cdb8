// Both nodes get the same refund at the same moment, and look before either has written. How often is it paid?

import { NotStagedError } from '../../evidence/not-staged.ts';
import { countOf } from '../../evidence/numbers.ts';
import { type ClientAnswer, describeAnswer, type KeyDrill } from '../purchase.ts';
import { judgeOnce } from '../shop.ts';

export const refundTwice: KeyDrill = {
  name: 'refund-twice',
  async run(testBed) {
    const { first, second, query, until } = testBed;
    // The sale and its payment are requests of their own, without a key.
    await fetch(new URL(`/inventory/sale?sku=${testBed.sku}`, first.publicUrl), { method: 'POST' });
    const { id } = await testBed.firstOrder();
    const paid = await fetch(new URL(`/orders/${id}/pay`, first.publicUrl), { method: 'POST' });
    if (!paid.ok) throw new NotStagedError('The order could not be paid.');
    await testBed.step(
      `Order ${id.slice(0, 8)} is paid. One refund of it comes twice: to ${first.name} and to ${second.name}.`,
    );

    /** How many refunds wait to change the order. */
    const waiting = () => testBed.waitingStatements('UPDATE tb_order%');
    const answered: ClientAnswer[] = [];
    const refund = async (node: typeof first) => {
      answered.push(await testBed.send('POST', node.publicUrl, `/orders/${id}/refund`));
    };

    // A node that has looked waits for this row, so that both have looked before either writes.
    const both: Promise<void>[] = [];
    await testBed.holding('SELECT id FROM tb_order WHERE id = ?', [id], async () => {
      both.push(refund(first));
      await until(`${first.name} has not come to change the order.`, async () => (await waiting()) === 1);
      await testBed.say(`${first.name} has seen that the order is paid, and is about to write that it is refunded.`);
      both.push(refund(second));
      await until(
        `${second.name} was neither refused nor let in.`,
        async () => (await waiting()) + answered.length === 2,
      );
      await testBed.say(
        answered[0]
          ? `${second.name}: the request ${describeAnswer(answered[0])}.`
          : `${second.name} has seen the same.`,
      );
    });
    await Promise.all(both);
    testBed.mustBeAnswered(...answered);

    const refunds = await query<{ id: string }>("SELECT id FROM tb_payment WHERE order_id = ? AND kind = 'REFUND'", [
      id,
    ]);
    if (refunds.length === 0) throw new NotStagedError('Nothing was refunded at all.');
    return judgeOnce(refunds.length === 1, {
      count: `${countOf(refunds.length, 'refund')} of one order`,
      how: 'both nodes had found it paid before either wrote that it was refunded',
      figures: { orders: 1, refunds: refunds.length },
      witnesses: refunds.map((refund) => `payment ${refund.id}: a refund of order ${id}`),
    });
  },
};
