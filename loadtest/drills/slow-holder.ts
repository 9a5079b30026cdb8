// One holder stalls for 2.5 leases while others keep buying. When it wakes, do two of the others meet?

import type { Hold } from '../evidence/history.ts';
import { describeOverlap, overlapsBetween } from '../evidence/overlaps.ts';
import { sharedClock, sleep } from '../harness/clock.ts';
import { AGAIN_MS } from '../harness/sell-meanwhile.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

const BUYERS = 6;

export const slowHolder: StepDrill = {
  name: 'slow-holder',
  async run(testBed): Promise<Judgement> {
    const { first, second, leaseMs } = testBed;
    const slow = await testBed.sellInside(first, { untilResumed: true });
    const stall = testBed.mark('stalls', { sale: slow });
    await testBed.step(`Sale ${slow.saleId} on ${first.name} holds the lock, and stalls.`);
    const stalledAt = sharedClock();

    const script = { pauseMs: Math.round(leaseMs / 3), times: 1000 };
    await first.script(script);
    await second.script(script);
    let isTrickling = true;
    const trickle = Promise.all(
      Array.from({ length: BUYERS }, async (_, buyer) => {
        while (isTrickling) {
          const { outcome } = await testBed.sell(buyer % 2 ? first : second).end;
          if (outcome !== 'sold') await sleep(AGAIN_MS);
        }
      }),
    );
    // A drill that is stopped waits for nobody.
    trickle.catch(() => {});
    await testBed.say(`${BUYERS} buyers come again and again; each sale takes a third of a lease.`);

    const isSlow = (sale: { node: string; saleId: string }) => sale.node === first.name && sale.saleId === slow.saleId;
    const others = async () => (await testBed.holds()).filter((hold) => !isSlow(hold));
    await testBed.waitFor(async () => sharedClock() - stalledAt > 2.5 * leaseMs || undefined, 3 * leaseMs);
    const seen = (await others()).length;
    // It wakes right after another has entered, who then has a third of a lease before them.
    const entered =
      seen > 0 && (await testBed.waitFor(async () => (await others()).length > seen || undefined, leaseMs));
    await testBed.say(
      entered ? 'Another holder has just entered. The slow one wakes and leaves.' : 'The slow one wakes and leaves.',
    );
    if (seen === 0) await testBed.mustHaveWaited(second, stalledAt);
    await testBed.mustBeInside(slow);
    const awakeAt = sharedClock();
    const leaseLeftMs = testBed.leaseLeftMs();
    await first.resume();
    stall.over();
    await slow.end;
    const goneAt = sharedClock();
    await testBed.waitFor(async () => undefined, leaseMs / 2);
    isTrickling = false;
    await trickle;

    const outcome = await testBed.outcome();
    const isJudged = (hold: Hold) => !isSlow(hold);
    const holds = (await others()).filter(({ left }) => left > awakeAt);
    // Short enough to end within its lease, and long enough for others to come.
    const isThere = ({ entered, left }: Hold) => entered <= awakeAt && left - entered >= leaseMs / 4;
    if (seen > 0 && (leaseLeftMs < leaseMs / 4 || !holds.some(isThere))) {
      return notStaged('Nobody else held the lock when the slow holder left.');
    }
    // A sale that enters while the lease of the one inside still runs was let in by the slow one. Later ones may be right.
    const meetings = overlapsBetween(holds).filter(({ from }) => from >= awakeAt && from <= awakeAt + leaseLeftMs);
    const figures = {
      overlaps: meetings.length,
      enteredMeanwhile: seen,
      ...(seen === 0 && { keptOutMs: awakeAt - stalledAt }),
    };
    if (meetings.length > 0) {
      const reason = 'Two of the others were inside at the same moment, so both may sell the same unit.';
      const witnesses = meetings.map((meeting) => describeOverlap(meeting, outcome.startedAt));
      return { verdict: 'fail', reason, figures, witnesses, isJudged };
    }
    // Who waits tries much more often than that.
    if (seen > 0 && !holds.some((hold) => isThere(hold) && hold.left - goneAt >= leaseMs / 8)) {
      return notStaged('The slow holder left too late: nobody had the time to meet the other one.', { isLate: true });
    }
    const reason =
      seen > 0
        ? 'The slow holder left, and no two of the others met.'
        : 'Nobody entered while the slow holder stalled; the price is that everybody waited.';
    return { verdict: 'pass', reason, figures, witnesses: [], isJudged };
  },
};
