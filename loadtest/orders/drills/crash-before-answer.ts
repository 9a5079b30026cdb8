// A node is killed when it has done its work and not yet said so. The client asks the other node.

import { notStaged } from '../../harness/play.ts';
import { describeAnswer, type KeyDrill } from '../purchase.ts';

export const crashBeforeAnswer: KeyDrill = {
  name: 'crash-before-answer',
  needs: ['node processes'],
  async run(testBed) {
    const { first, second } = testBed;
    await testBed.step(`A purchase goes to ${first.name}, which is killed before it answers.`);
    await first.script({ beforeAnswer: true });
    const click = testBed.click(first);
    const order = await testBed.firstOrder();
    await testBed.kill(first);
    if ((await click).status !== undefined) return notStaged(`${first.name} had answered before it was killed.`);
    await testBed.say(
      `${first.name} has made order ${order.id.slice(0, 8)}, and is killed (SIGKILL). The client has no answer.`,
    );

    const again = await testBed.repeat(() => testBed.click(second));
    await testBed.say(`The client repeats, on ${second.name}: it ${describeAnswer(again)}.`);
    return testBed.judgeRepeat(again, `${second.name} did not know that ${first.name} had sold`);
  },
};
