// A holder is killed between read and write, so nobody releases its lock. Does the shop stand still?

import { formatDuration } from '../evidence/numbers.ts';
import { sharedClock } from '../harness/clock.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

export const crashedHolder: StepDrill = {
  name: 'crashed-holder',
  needs: ['node processes'],
  async run(testBed): Promise<Judgement> {
    const { first, second, leaseMs } = testBed;
    await testBed.step(`${first.name} is about to sell. It is killed in the middle of it.`);
    const holder = await testBed.sellInside(first, { untilResumed: true });
    await testBed.say(`Sale ${holder.saleId} on ${first.name} ${testBed.soFar}. It has not yet written.`);

    const crashedAt = await testBed.kill(first);
    testBed.mark('SIGKILL', { node: first, at: crashedAt });
    await testBed.mustBeInside(holder);
    if ((await second.stock()) !== testBed.initialStock)
      return notStaged('The holder had written already when it died.');
    await testBed.say(`${first.name} is killed (SIGKILL).`);

    const limitMs = 2 * leaseMs;
    await testBed.say(`${second.name} wants to sell.`);
    const end = await testBed.sellWithin(second, limitMs);
    const takeoverMs = sharedClock() - crashedAt;

    if (end.outcome === 'sold') {
      const reason = `${second.name} sold again ${formatDuration(takeoverMs)} after the crash.`;
      return { verdict: 'pass', reason, figures: { takeoverMs }, witnesses: [] };
    }
    await testBed.mustHaveWaited(second, crashedAt);
    await testBed.say(`${second.name} has waited for ${formatDuration(limitMs)} and gives up.`);
    const reason = `${second.name} could not sell within ${formatDuration(limitMs)}: the lock of the dead holder is still there.`;
    return { verdict: 'fail', reason, figures: { keptOutMs: end.ms }, witnesses: [] };
  },
};
