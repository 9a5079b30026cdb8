// A tick of a node comes before its last one has ended. Are the orders that both have read restored twice?

import { type GuardDrill, LONG_LEASE_MS, tellTick } from '../clean-up.ts';

const DUE = 100;

export const sameNodeTwice: GuardDrill = {
  name: 'same-node-twice',
  leaseMs: LONG_LEASE_MS,
  async run(scene) {
    const { first } = scene;
    await scene.makeDue(DUE);
    await scene.step(`${DUE} orders are due. ${first.name} ticks, and ticks again before it has restored anything.`);
    const slow = await scene.holdTick(first, { after: 'read', orders: 1 });
    await scene.say(`The first tick has read that ${DUE} orders are due.`);
    const next = await scene.startTick(first, { after: 'read', orders: 1 });
    await scene.nothingRestored();
    await scene.say(next.ended() ? 'The second tick is skipped.' : 'The second tick has read the same orders.');

    await first.goOn();
    const [one, two] = [await slow.result, await next.result];
    scene.mustHaveRun(first, one);
    scene.mustNotFail(first, two);
    await scene.say(`The first tick ${tellTick(one)}; the second ${tellTick(two)}.`);
    return scene.judge(`two ticks of ${first.name} had both read the same orders`);
  },
};
