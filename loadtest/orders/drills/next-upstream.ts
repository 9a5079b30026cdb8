// nginx is configured to send a request that failed to the other node, which our configuration forbids. One click, and its node dies.

import { notStaged } from '../../harness/play.ts';
import { describeAnswer, type KeyDrill } from '../purchase.ts';

export const nextUpstream: KeyDrill = {
  name: 'next-upstream',
  needs: ['node processes'],
  async run(testBed) {
    const { nodes, nginxUrl, sku } = testBed;
    await testBed.step(
      'One click goes through an nginx with proxy_next_upstream on: a GET, and its node is killed before it answers.',
    );
    for (const node of nodes) await node.script({ beforeAnswer: true });
    const buy = () => testBed.send('GET', nginxUrl, `/inventory/sale?sku=${sku}`);
    const click = buy();
    const order = await testBed.firstOrder();
    const seller = nodes.find(({ name }) => name === order.node);
    const other = nodes.find(({ name }) => name !== order.node);
    if (seller === undefined || other === undefined) return notStaged(`The order was made by ${order.node}.`);
    // This one is to answer.
    await other.script({});
    await testBed.kill(seller);
    await testBed.say(`${seller.name} has made order ${order.id.slice(0, 8)}, and is killed (SIGKILL).`);

    let answer = await click;
    if (answer.status === undefined || answer.status === 502) {
      return notStaged(`nginx did not send the click to ${other.name}: it ${describeAnswer(answer)}.`);
    }
    await testBed.say(`nginx sends the same click to ${other.name}: it ${describeAnswer(answer)}.`);
    if (answer.code === 'REQUEST_IN_PROGRESS') {
      answer = await testBed.repeat(buy);
      await testBed.say(`The client asks again, for as long as the answer asks it to: it ${describeAnswer(answer)}.`);
    }
    return testBed.judgeRepeat(
      answer,
      `nginx sent the click to ${other.name}, which did not know that ${seller.name} had sold`,
    );
  },
};
