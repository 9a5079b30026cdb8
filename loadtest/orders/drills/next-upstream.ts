// nginx is told to send a request that failed to the other node, which our configuration forbids. One click, and its node dies.

import { notStaged } from '../../harness/step-drill.ts';
import { type KeyDrill, tellAnswer } from '../purchase.ts';

export const nextUpstream: KeyDrill = {
  name: 'next-upstream',
  needs: ['node processes'],
  async run(scene) {
    const { nodes, nginxUrl, sku } = scene;
    await scene.step(
      'One click goes through an nginx with proxy_next_upstream on: a GET, and its node is killed before it answers.',
    );
    for (const node of nodes) await node.script({ beforeAnswer: true });
    const buy = () => scene.send('GET', nginxUrl, `/inventory/sale?sku=${sku}`);
    const click = buy();
    const order = await scene.firstOrder();
    const seller = nodes.find(({ name }) => name === order.node);
    const other = nodes.find(({ name }) => name !== order.node);
    if (seller === undefined || other === undefined) return notStaged(`The order was made by ${order.node}.`);
    // This one is to answer.
    await other.script({});
    await scene.kill(seller);
    await scene.say(`${seller.name} has made order ${order.id.slice(0, 8)}, and is killed (SIGKILL).`);

    let answer = await click;
    if (answer.status === undefined || answer.status === 502) {
      return notStaged(`nginx did not send the click to ${other.name}: it ${tellAnswer(answer)}.`);
    }
    await scene.say(`nginx sends the same click to ${other.name}: it ${tellAnswer(answer)}.`);
    if (answer.code === 'REQUEST_IN_PROGRESS') {
      answer = await scene.repeat(buy);
      await scene.say(`The client asks again, for as long as it is told to: it ${tellAnswer(answer)}.`);
    }
    return scene.judgeRepeat(
      answer,
      `nginx sent the click to ${other.name}, which did not know that ${seller.name} had sold`,
    );
  },
};
