// Both nodes tick at the same moment, each by its own schedule. Are the orders that both have read restored twice?

import { type GuardDrill, LONG_LEASE_MS, tellTick } from '../clean-up.ts';

const DUE = 100;

export const doubleRestore: GuardDrill = {
  name: 'double-restore',
  leaseMs: LONG_LEASE_MS,
  async run(scene) {
    const { first, second } = scene;
    await scene.makeDue(DUE);
    await scene.step(`${DUE} orders are due. ${first.name} and ${second.name} tick at the same moment.`);
    const one = await scene.holdTick(first, { after: 'read', orders: 1 });
    await scene.say(`${first.name} has read that ${DUE} orders are due.`);
    const two = await scene.startTick(second, { after: 'read', orders: 1 });
    await scene.nothingRestored();
    await scene.say(two.ended() ? `${second.name} is skipped.` : `${second.name} has read the same orders.`);

    for (const { node, result } of [one, two]) {
      await node.goOn();
      await scene.say(`${node.name} ${tellTick(await result)}.`);
    }
    scene.mustHaveRun(first, await one.result);
    scene.mustNotFail(second, await two.result);
    return scene.judge(`${first.name} and ${second.name} had both read the same orders`);
  },
};
