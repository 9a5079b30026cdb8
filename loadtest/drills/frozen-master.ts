// One of the masters that vote for the lock stands still, then a second one. Do sales go on, and what does each cost more?

import type { SaleEnd } from '../evidence/answers.ts';
import { countOf, formatDuration } from '../evidence/numbers.ts';
import { overlapsOf } from '../evidence/overlaps.ts';
import { readStock } from '../evidence/stock.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';
import type { TestBed } from '../harness/test-bed.ts';

/** How many masters stand still in the end: a minority of five. */
const FROZEN = 2;
const SALES = 9;
/** What masters that do not answer may cost a sale, in milliseconds. */
const LIMIT_MS = 50;
const SALE_LIMIT_MS = 5_000;

export const frozenMaster: StepDrill = {
  name: 'frozen-master',
  needs: ['masters', 'master processes'],
  // A lease that outlasts the drill: nobody may enter because of it.
  timing: { leaseMs: 30_000 },
  async run(testBed): Promise<Judgement> {
    if (testBed.masterCount <= 2 * FROZEN)
      return notStaged(`${testBed.masterCount} masters: ${FROZEN} are no minority.`);
    const before = await sellOneByOne(testBed);
    const usualMs = middleOf(before);
    await testBed.step(`All ${testBed.masterCount} masters vote: ${SALES} sales, ${formatDuration(usualMs)} each.`);

    const rounds: SaleEnd[][] = [];
    for (let frozen = 1; frozen <= FROZEN; frozen += 1) {
      await testBed.freezeMaster(frozen - 1);
      testBed.mark(`master ${frozen} SIGSTOP`);
      const sales = await sellOneByOne(testBed);
      rounds.push(sales);
      const sold = sales.filter(({ outcome }) => outcome === 'sold').length;
      await testBed.step(
        `${countOf(frozen, 'master')} stopped (SIGSTOP): ${sold} of ${SALES} sales sold, ${formatDuration(middleOf(sales))} each.`,
      );
    }
    if (before.some(({ outcome }) => outcome !== 'sold')) return notStaged('The shop did not sell before the fault.');

    const outcome = await testBed.outcome();
    const during = rounds.flat();
    const { lostUpdates, witnesses } = readStock(outcome);
    const { overlaps, witnesses: meetings } = overlapsOf(outcome);
    const unsold = during.filter(({ outcome }) => outcome !== 'sold').length;
    const slowestSaleMs = Math.max(...during.map(({ ms }) => ms));
    const costMs = Math.max(0, Math.max(...rounds.map(middleOf)) - usualMs);
    const standstillMs = testBed.standstillMs();
    // A vote that waits as long for its turn is no vote.
    if (lostUpdates + overlaps === 0 && (unsold > 0 || costMs > LIMIT_MS) && standstillMs > LIMIT_MS) {
      return notStaged(
        `The machine was too busy to tell what the masters cost: for ${formatDuration(standstillMs)} nothing went on.`,
        { isLate: true },
      );
    }
    const figures = { unsold, usualMs, costMs, limitMs: LIMIT_MS, slowestSaleMs, lostUpdates, overlaps };
    const faults = [
      ...(unsold > 0 ? [`${unsold} of ${during.length} sales did not take place.`] : []),
      ...(costMs > LIMIT_MS ? [`A sale takes ${formatDuration(costMs)} longer, as long as a master is away.`] : []),
      ...(lostUpdates + overlaps > 0 ? [`Sales lost: at least ${lostUpdates}.`] : []),
    ];
    if (faults.length > 0) {
      return { verdict: 'fail', reason: faults.join(' '), figures, witnesses: [...witnesses, ...meetings] };
    }
    const reason = `Sales went on with ${FROZEN} of ${testBed.masterCount} masters stopped: ${formatDuration(costMs)} more for each, the slowest took ${formatDuration(slowestSaleMs)}.`;
    return { verdict: 'pass', reason, figures, witnesses: [] };
  },
};

/** Over both nodes, each when the one before has been answered. */
async function sellOneByOne({ first, second, sellWithin }: TestBed): Promise<SaleEnd[]> {
  const ends: SaleEnd[] = [];
  for (let sale = 0; sale < SALES; sale += 1) ends.push(await sellWithin(sale % 2 ? second : first, SALE_LIMIT_MS));
  return ends;
}

/** How long the middle one took: a fault that is there costs them all, a busy machine a few. */
function middleOf(sales: SaleEnd[]): number {
  return sales.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(sales.length / 2)] ?? 0;
}
