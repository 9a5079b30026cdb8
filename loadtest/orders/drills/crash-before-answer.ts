// A node is killed when it has done its work and not yet said so. The client asks the other node.

import { notStaged } from '../../harness/step-drill.ts';
import { type KeyDrill, tellAnswer } from '../purchase.ts';

export const crashBeforeAnswer: KeyDrill = {
  name: 'crash-before-answer',
  needs: ['node processes'],
  async run(scene) {
    const { first, second } = scene;
    await scene.step(`A purchase goes to ${first.name}, which is killed before it answers.`);
    await first.script({ beforeAnswer: true });
    const click = scene.click(first);
    const order = await scene.firstOrder();
    await scene.kill(first);
    if ((await click).status !== undefined) return notStaged(`${first.name} had answered before it was killed.`);
    await scene.say(
      `${first.name} has made order ${order.id.slice(0, 8)}, and is killed (SIGKILL). The client has no answer.`,
    );

    const again = await scene.repeat(() => scene.click(second));
    await scene.say(`The client repeats, on ${second.name}: it ${tellAnswer(again)}.`);
    return scene.judgeRepeat(again, `${second.name} did not know that ${first.name} had sold`);
  },
};
