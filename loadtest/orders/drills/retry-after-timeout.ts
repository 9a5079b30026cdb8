// The answer is lost on its way, so the client asks again, and the load balancer leads it to the other node.

import { notStaged } from '../../harness/step-drill.ts';
import { type KeyDrill, tellAnswer } from '../purchase.ts';

export const retryAfterTimeout: KeyDrill = {
  name: 'retry-after-timeout',
  async run(scene) {
    const { first, second, until } = scene;
    await scene.step(`A purchase goes to ${first.name}, whose answer is lost on the way.`);
    await first.script({ beforeAnswer: true });
    const client = new AbortController();
    const click = scene.click(first, client.signal);
    const order = await scene.firstOrder();
    await scene.say(
      `${first.name} has made order ${order.id.slice(0, 8)}. The client has waited for too long and hangs up.`,
    );
    client.abort();
    if ((await click).status !== undefined) return notStaged('The answer was not lost.');
    await first.goOn();
    await until(`The sale on ${first.name} never ended.`, async () => (await first.state()).inFlight === 0);

    const again = await scene.repeat(() => scene.click(second));
    await scene.say(`The client repeats, on ${second.name}: it ${tellAnswer(again)}.`);
    return scene.judgeRepeat(again, `${second.name} did not know that ${first.name} had sold`);
  },
};
