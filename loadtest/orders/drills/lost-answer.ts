// A node has made the order, and its client never hears of it. The client asks the other node.

import { notStaged } from '../../harness/play.ts';
import { describeAnswer, type KeyDrill, type PurchaseTestBed } from '../purchase.ts';

/** The answer is lost on its way, so the client asks again, and the load balancer leads it to the other node. */
export const retryAfterTimeout: KeyDrill = {
  name: 'retry-after-timeout',
  async run(testBed) {
    const { first, until } = testBed;
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
    await until(`The request on ${first.name} never ended.`, async () => (await first.state()).answering === 0);
    return repeatOnTheOther(testBed);
  },
};

/** A node is killed when it has done its work and not yet said so. */
export const crashBeforeAnswer: KeyDrill = {
  name: 'crash-before-answer',
  needs: ['node processes'],
  async run(testBed) {
    const { first } = testBed;
    await testBed.step(`A purchase goes to ${first.name}, which is killed before it answers.`);
    await first.script({ beforeAnswer: true });
    const click = testBed.click(first);
    const order = await testBed.firstOrder();
    await testBed.kill(first);
    if ((await click).status !== undefined) return notStaged(`${first.name} had answered before it was killed.`);
    await testBed.say(
      `${first.name} has made order ${order.id.slice(0, 8)}, and is killed (SIGKILL). The client has no answer.`,
    );
    return repeatOnTheOther(testBed);
  },
};

async function repeatOnTheOther(testBed: PurchaseTestBed) {
  const { first, second } = testBed;
  const again = await testBed.repeat(() => testBed.click(second));
  await testBed.say(`The client repeats, on ${second.name}: it ${describeAnswer(again)}.`);
  return testBed.judgeRepeat(again, `${second.name} did not know that ${first.name} had sold`);
}
