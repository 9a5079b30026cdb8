// The answer is lost on its way, so the client asks again, and the load balancer leads it to the other node.

import { notStaged } from '../../harness/play.ts';
import { describeAnswer, type KeyDrill } from '../purchase.ts';

export const retryAfterTimeout: KeyDrill = {
  name: 'retry-after-timeout',
  async run(testBed) {
    const { first, second, until } = testBed;
    await testBed.step(`A purchase goes to ${first.name}, whose answer is lost on the way.`);
    await first.script({ beforeAnswer: true });
    const client = new AbortController();
    const click = testBed.click(first, client.signal);
    const order = await testBed.firstOrder();
    await until(`${first.name} did not keep its answer.`, async () => (await first.state()).held === 1);
    await testBed.say(
      `${first.name} has made order ${order.id.slice(0, 8)}. The client has waited for too long and hangs up.`,
    );
    client.abort();
    if ((await click).status !== undefined) return notStaged('The answer was not lost.');
    await first.resume();
    await until(`The request on ${first.name} never ended.`, async () => (await first.answersUnderWay()) === 0);

    const again = await testBed.repeat(() => testBed.click(second));
    await testBed.say(`The client repeats, on ${second.name}: it ${describeAnswer(again)}.`);
    return testBed.judgeRepeat(again, `${second.name} did not know that ${first.name} had sold`);
  },
};
