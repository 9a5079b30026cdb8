// A holder's release is held up on its way and arrives when its lease is over and another holds the lock. Whose lock does it
// delete?

import { formatDuration } from '../evidence/numbers.ts';
import { overlapsOf } from '../evidence/overlaps.ts';
import { sharedClock } from '../harness/shared-clock.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

export const lateRelease: StepDrill = {
  name: 'late-release',
  needs: ['links'],
  async run(testBed): Promise<Judgement> {
    const { first, second, leaseMs } = testBed;
    const late = await testBed.sellInside(first, { untilResumed: true });
    await testBed.say(`Sale ${late.saleId} on ${first.name} holds the lock, and now gives it up.`);
    const release = await testBed.holdOnItsWay(first, testBed.releaseCommand(), first.resume);
    const held = testBed.mark('release held', { sale: late });
    await testBed.step(`Its release is held up on the line to Redis.`);

    await testBed.say(`${second.name} asks for the lock.`);
    const limitMs = 2.5 * leaseMs;
    const askedAt = sharedClock();
    const next = await testBed.trySellInside(second, { untilResumed: true }, limitMs);
    if (next === undefined) {
      const keptOutMs = sharedClock() - askedAt;
      await testBed.mustHaveWaited(second, askedAt);
      held.over();
      await release.arrive();
      testBed.restore(first);
      const reason = `Nobody could enter within ${formatDuration(keptOutMs)}; the price of the late release is that everybody waited.`;
      return { verdict: 'pass', reason, figures: { overlaps: 0, keptOutMs }, witnesses: [] };
    }
    await testBed.say(`The lease is over: sale ${next.saleId} on ${second.name} holds the lock.`);
    await second.script({ pauseMs: Math.round(leaseMs / 4) });
    const third = testBed.sell(second);
    await testBed.waitFor(async () => (await second.state()).waiting === 1 || undefined, leaseMs / 4);
    held.over();
    await release.arrive();
    await testBed.say(`A third sale asks, and the late release arrives.`);

    const isNext = (sale: { saleId: string }) => sale.saleId === next.saleId;
    const others = async () => (await testBed.holds()).filter((hold) => hold.node === second.name);
    const hasEntered = await testBed.waitFor(async () => (await others()).length > 1 || undefined, leaseMs / 4);
    if (hasEntered) await testBed.say(`The third sale has entered while sale ${next.saleId} is inside.`);
    // For as long as a picture needs to show it.
    if (hasEntered) await testBed.waitFor(async () => undefined, leaseMs / 10);
    await second.resume();
    await next.end;
    await third.end;
    testBed.restore(first);

    const outcome = await testBed.outcome();
    const lateHold = (await testBed.holds()).find(({ node, saleId }) => node === first.name && saleId === late.saleId);
    const [nextHold, thirdHold] = (await others()).sort((a, b) => Number(isNext(b)) - Number(isNext(a)));
    const asked = outcome.events.filter(({ type, node }) => type === 'waiting' && node === second.name);
    if (!lateHold || !nextHold || nextHold.entered - lateHold.entered < 0.9 * leaseMs) {
      return notStaged(`${second.name} entered before the lease was over, so the release was not late.`);
    }
    if (nextHold.left - nextHold.entered >= leaseMs) {
      return notStaged(`Sale ${next.saleId} stayed longer than its own lease, which proves nothing about the release.`);
    }
    if (asked.every((sale) => isNext(sale) || sale.at > nextHold.left)) {
      return notStaged('Nobody asked for the lock when the release arrived.');
    }
    const { overlaps, witnesses } = overlapsOf(outcome, ({ node }) => node === second.name);
    const figures = { overlaps };
    if (overlaps > 0) {
      const reason = `The late release deleted the lock of sale ${next.saleId}, and sale ${thirdHold?.saleId} entered as well.`;
      return { verdict: 'fail', reason, figures, witnesses };
    }
    const reason = `The late release did nothing: the third sale entered after sale ${next.saleId} had left.`;
    return { verdict: 'pass', reason, figures, witnesses };
  },
};
