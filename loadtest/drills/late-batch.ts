// A node sells for all who wait on it, with one write. The write is held up on its way, and arrives when the lease is over and another
// node has sold. How many sales are in doubt because of it?

import type { SaleEnd } from '../evidence/answers.ts';
import { countOf, formatDuration } from '../evidence/numbers.ts';
import { readStock } from '../evidence/stock.ts';
import { sharedClock } from '../harness/clock.ts';
import { isStockWrite } from '../harness/faults.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

const BUYERS = 20;
/** How long until all of them wait, and until the next node has sold, at most: in milliseconds. */
const WAIT_LIMIT_MS = 2_000;

export const lateBatch: StepDrill = {
  name: 'late-batch',
  needs: ['links'],
  async run(testBed): Promise<Judgement> {
    const { first, second, leaseMs } = testBed;
    const holder = await testBed.sellInside(second, { untilResumed: true });
    const buyers = Array.from({ length: BUYERS }, () => testBed.sell(first));
    const isFull = async () => (await first.state()).waiting === BUYERS || undefined;
    if (!(await testBed.waitFor(isFull, WAIT_LIMIT_MS)))
      return notStaged(`${BUYERS} buyers did not wait on ${first.name}.`);
    await testBed.say(
      `Sale ${holder.saleId} on ${second.name} ${testBed.soFar}. ${BUYERS} buyers wait on ${first.name}. Now it writes and leaves.`,
    );
    const write = await testBed.holdOnItsWay(first, isStockWrite, second.resume);
    const held = testBed.mark('write held');
    await testBed.step(`${first.name} has the lock and writes. Its write is held up on the line to Redis.`);

    const askedAt = sharedClock();
    const next = await testBed.sellWithin(second, 2 * leaseMs);
    const keptOutMs = sharedClock() - askedAt;
    await testBed.step(`${second.name} ${next.outcome === 'sold' ? 'has sold one unit' : 'could not sell'} meanwhile.`);
    held.over();
    await write.arrive();
    testBed.mark('write arrives');
    const ends = await Promise.all(buyers.map(({ end }) => end));
    testBed.restore(first);
    return judge(readStock(await testBed.outcome()), ends, next, keptOutMs);
  },
};

function judge(stock: ReturnType<typeof readStock>, ends: SaleEnd[], next: SaleEnd, keptOutMs: number): Judgement {
  const { lostUpdates, witnesses, finalStock, expectedStock } = stock;
  const inDoubt = ends.filter(({ outcome }) => outcome === 'inDoubt').length;
  const figures = { asked: ends.length, inDoubt, lostUpdates, finalStock, expectedStock, keptOutMs };
  if (next.outcome !== 'sold') {
    return notStaged(`The other node sold nothing within ${formatDuration(keptOutMs)}.`, { isLate: true });
  }
  if (lostUpdates > 0) {
    const reason = `The late write was taken, and undid ${countOf(lostUpdates, 'sale')}.`;
    return { verdict: 'fail', reason, figures, witnesses };
  }
  if (inDoubt > 1) {
    const reason = `One late write was refused, and ${inDoubt} of ${ends.length} buyers got nothing and do not know it: they were answered that their sale is in doubt. None is lost.`;
    return { verdict: 'fail', reason, figures, witnesses };
  }
  const reason = `The late write was that of ${countOf(inDoubt, 'sale')}; the other buyers were told what became of theirs.`;
  return { verdict: 'pass', reason, figures, witnesses };
}
