import type { Judgement, StepDrill } from '../step-drill.ts';

// A holder is killed between read and write, so nobody releases its lock. Does the shop stand still?
export const crashedHolder: StepDrill = {
  name: 'crashed-holder',
  needs: ['node processes'],
  async run(scene): Promise<Judgement> {
    const { first, second, leaseMs } = scene;
    const holder = await scene.sellInside(first, { untilTold: true });
    await scene.say(
      `Sale ${holder.saleId} on ${first.name} holds the lock. It has read the stock and not yet written.`,
    );

    await scene.kill(first);
    const crashedAt = performance.now();
    scene.mark('SIGKILL', first);
    await scene.step(`${first.name} is killed (SIGKILL).`);

    const limitMs = 2 * leaseMs;
    await scene.say(`${second.name} wants to sell.`);
    const end = await scene.sellWithin(second, limitMs);
    const takeoverMs = performance.now() - crashedAt;

    if (end.outcome === 'sold') {
      const reason = `${second.name} sold again ${Math.round(takeoverMs)} ms after the crash.`;
      return { verdict: 'pass', reason, figures: { takeoverMs }, witnesses: [] };
    }
    await scene.say(`${second.name} has waited for ${limitMs} ms and gives up.`);
    const reason = `${second.name} could not sell within ${limitMs} ms: the lock of the dead holder is still there.`;
    return { verdict: 'fail', reason, figures: { keptOutMs: end.ms }, witnesses: [] };
  },
};
