import type { Judgement, StepDrill } from '../step-drill.ts';

// A holder is killed between read and write, so nobody releases its lock. Does the shop stand still?
export const crashedHolder: StepDrill = {
  name: 'crashed-holder',
  async run(scene): Promise<Judgement> {
    const { first, second, leaseMs } = scene;
    await scene.sellInside(first, { untilTold: true });
    await scene.say(`A sale on ${first.name} holds the lock. It has read the stock and not yet written.`);

    await scene.kill(first);
    const crashedAt = performance.now();
    await scene.say(`${first.name} is killed (SIGKILL). ${second.name} wants to sell.`);

    const limitMs = 2 * leaseMs;
    const sale = scene.sell(second);
    const timer = setTimeout(sale.hangUp, limitMs);
    const end = await sale.end;
    clearTimeout(timer);
    const takeoverMs = performance.now() - crashedAt;

    if (end.outcome === 'sold') {
      await scene.say(`${second.name} has sold, ${Math.round(takeoverMs)} ms after the crash.`);
      const reason = `${second.name} sold again ${Math.round(takeoverMs)} ms after the crash.`;
      return { verdict: 'pass', reason, figures: { takeoverMs }, witnesses: [] };
    }
    await scene.say(`${second.name} has waited for ${limitMs} ms and gives up.`);
    const reason = `${second.name} could not sell within ${limitMs} ms: the lock of the dead holder is still there.`;
    return { verdict: 'fail', reason, figures: { waitedMs: end.ms }, witnesses: [] };
  },
};
