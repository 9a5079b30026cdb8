// One holder stalls for 2.5 leases while others keep buying. When it wakes, do two of the others meet?

import type { Stay } from '../checker.ts';
import { type Judgement, notStaged, overlapsOf, type StepDrill } from '../step-drill.ts';

const BUYERS = 6;

export const slowHolder: StepDrill = {
  name: 'slow-holder',
  async run(scene): Promise<Judgement> {
    const { first, second, leaseMs } = scene;
    const slow = await scene.sellInside(first, { untilTold: true });
    const stall = scene.mark('stalls', { sale: slow });
    await scene.step(`Sale ${slow.saleId} on ${first.name} holds the lock, and stalls.`);
    const stalledAt = performance.now();

    const script = { pauseMs: Math.round(leaseMs / 3), times: 1000 };
    await first.script(script);
    await second.script(script);
    let isTrickling = true;
    const trickle = Promise.all(
      Array.from({ length: BUYERS }, async (_, buyer) => {
        while (isTrickling) await scene.sell(buyer % 2 ? first : second).end;
      }),
    );
    // A drill that is stopped waits for nobody.
    trickle.catch(() => {});
    await scene.say(`${BUYERS} buyers come again and again; each sale takes a third of a lease.`);

    const isSlow = (sale: { node: string; saleId: string }) => sale.node === first.name && sale.saleId === slow.saleId;
    const others = async () => (await scene.stays()).filter((stay) => !isSlow(stay));
    await scene.waitFor(async () => performance.now() - stalledAt > 2.5 * leaseMs || undefined, 3 * leaseMs);
    const seen = (await others()).length;
    // It wakes right after another has entered, who then has a third of a lease before them.
    const entered = seen > 0 && (await scene.waitFor(async () => (await others()).length > seen || undefined, leaseMs));
    await scene.say(
      entered ? 'Another holder has just entered. The slow one wakes and leaves.' : 'The slow one wakes and leaves.',
    );
    const stalledMs = performance.now() - stalledAt;
    await first.goOn();
    stall.over();
    await slow.end;
    await scene.waitFor(async () => undefined, leaseMs / 2);
    isTrickling = false;
    await trickle;

    const outcome = await scene.outcome();
    const asked = outcome.events.filter((event) => event.type === 'waiting' && !isSlow(event));
    if (asked.length < BUYERS) return notStaged('The other buyers never asked for the lock.');
    const isJudged = (stay: Stay) => !isSlow(stay);
    const { overlaps, witnesses } = overlapsOf(outcome, isJudged);
    const figures = { overlaps, enteredMeanwhile: seen, ...(seen === 0 && { keptOutMs: stalledMs }) };
    if (overlaps > 0) {
      const reason = 'Two of the other holders were inside at the same moment.';
      return { verdict: 'fail', reason, figures, witnesses, isJudged };
    }
    const reason = entered
      ? 'The slow holder left, and no two of the others met.'
      : 'Nobody entered while the slow holder stalled; the price is that everybody waited.';
    return { verdict: 'pass', reason, figures, witnesses: [], isJudged };
  },
};
