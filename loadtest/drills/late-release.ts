// A holder's release is held up on its way and arrives when its lease is over and another holds the lock. Whose lock does it
// delete?

import { formatDuration } from '../evidence/numbers.ts';
import { sharedClock } from '../harness/shared-clock.ts';
import { type Judgement, notStaged, overlapsOf, type StepDrill } from '../harness/step-drill.ts';

export const lateRelease: StepDrill = {
  name: 'late-release',
  needs: ['links'],
  async run(scene): Promise<Judgement> {
    const { first, second, leaseMs } = scene;
    const late = await scene.sellInside(first, { untilTold: true });
    await scene.say(`Sale ${late.saleId} on ${first.name} holds the lock, and now gives it up.`);
    const release = await scene.holdOnItsWay(first, scene.releaseCommand(), first.goOn);
    const held = scene.mark('release held', { sale: late });
    await scene.step(`Its release is held up on the line to Redis.`);

    await scene.say(`${second.name} asks for the lock.`);
    const limitMs = 2.5 * leaseMs;
    const askedAt = sharedClock();
    const next = await scene.trySellInside(second, { untilTold: true }, limitMs);
    if (next === undefined) {
      const keptOutMs = sharedClock() - askedAt;
      await scene.mustHaveWaited(second, askedAt);
      held.over();
      await release.arrive();
      scene.restore(first);
      const reason = `Nobody could enter within ${formatDuration(keptOutMs)}; the price of the late release is that everybody waited.`;
      return { verdict: 'pass', reason, figures: { overlaps: 0, keptOutMs }, witnesses: [] };
    }
    await scene.say(`The lease is over: sale ${next.saleId} on ${second.name} holds the lock.`);
    await second.script({ pauseMs: Math.round(leaseMs / 4) });
    const third = scene.sell(second);
    await scene.waitFor(async () => (await second.state()).waiting === 1 || undefined, leaseMs / 4);
    held.over();
    await release.arrive();
    await scene.say(`A third sale asks, and the late release arrives.`);

    const isNext = (sale: { saleId: string }) => sale.saleId === next.saleId;
    const others = async () => (await scene.stays()).filter((stay) => stay.node === second.name);
    const hasEntered = await scene.waitFor(async () => (await others()).length > 1 || undefined, leaseMs / 4);
    if (hasEntered) await scene.say(`The third sale has entered while sale ${next.saleId} is inside.`);
    // For as long as a picture needs to show it.
    if (hasEntered) await scene.waitFor(async () => undefined, leaseMs / 10);
    await second.goOn();
    await next.end;
    await third.end;
    scene.restore(first);

    const outcome = await scene.outcome();
    const lateStay = (await scene.stays()).find(({ node, saleId }) => node === first.name && saleId === late.saleId);
    const [nextStay, thirdStay] = (await others()).sort((a, b) => Number(isNext(b)) - Number(isNext(a)));
    const asked = outcome.events.filter(({ type, node }) => type === 'waiting' && node === second.name);
    if (!lateStay || !nextStay || nextStay.entered - lateStay.entered < 0.9 * leaseMs) {
      return notStaged(`${second.name} entered before the lease was over, so the release was not late.`);
    }
    if (nextStay.left - nextStay.entered >= leaseMs) {
      return notStaged(`Sale ${next.saleId} stayed longer than its own lease, which proves nothing about the release.`);
    }
    if (asked.every((sale) => isNext(sale) || sale.at > nextStay.left)) {
      return notStaged('Nobody asked for the lock when the release arrived.');
    }
    const { overlaps, witnesses } = overlapsOf(outcome, ({ node }) => node === second.name);
    const figures = { overlaps };
    if (overlaps > 0) {
      const reason = `The late release deleted the lock of sale ${next.saleId}, and sale ${thirdStay?.saleId} entered as well.`;
      return { verdict: 'fail', reason, figures, witnesses };
    }
    const reason = `The late release did nothing: the third sale entered after sale ${next.saleId} had left.`;
    return { verdict: 'pass', reason, figures, witnesses };
  },
};
