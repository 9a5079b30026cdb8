// A majority votes for a holder, and its answers come back when the lease is over. Does it enter, although another is inside?

import { formatDuration } from '../evidence/numbers.ts';
import { overlapsOf } from '../evidence/overlaps.ts';
import { readStock } from '../evidence/stock.ts';
import { sharedClock } from '../harness/clock.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

const LEASE_MS = 400;
/** How late the answers come, in milliseconds. A node gives up a connection that is silent for 700 ms. */
const DELAY_MS = 600;
/** How long the second node may take to get in, in milliseconds. */
const ENTRY_LIMIT_MS = 5 * LEASE_MS;
/** How long a sale may take before the fault, in milliseconds. */
const USUAL_LIMIT_MS = 5_000;
/** How long it may take until a master has heard a node, in milliseconds. */
const HEARD_LIMIT_MS = 300;

export const lateVotes: StepDrill = {
  name: 'late-votes',
  needs: ['masters', 'links', 'master processes'],
  timing: { leaseMs: LEASE_MS },
  async run(testBed): Promise<Judgement> {
    const { first, second, initialStock } = testBed;
    // The masters know the scripts of a lock from its first sale on: a vote must be one command.
    await testBed.sellWithin(first, USUAL_LIMIT_MS);
    const majority = Array.from({ length: Math.floor(testBed.masterCount / 2) + 1 }, (_, master) => master);
    const delay = testBed.delayMasters(first, majority, DELAY_MS);
    const late = testBed.mark('votes late', { node: first });
    await testBed.step(
      `What ${majority.length} of ${testBed.masterCount} masters answer to ${first.name} comes ${formatDuration(DELAY_MS)} later; a lease is ${formatDuration(LEASE_MS)}.`,
    );

    const heardBefore = testBed.heardByMasters(first, majority);
    // If it ever gets in, it stays for long enough to be met.
    await first.script({ pauseMs: LEASE_MS });
    const askedAt = sharedClock();
    const sale = testBed.sell(first);
    const delayMs = delay.measure();
    const isHeard = await testBed.waitFor(
      async () => testBed.heardByMasters(first, majority) > heardBefore || undefined,
      HEARD_LIMIT_MS,
    );
    if (!isHeard) {
      return notStaged(`${majority.length} masters did not hear ${first.name} in time.`, { isLate: true });
    }
    await testBed.say(`${first.name} asks for the lock, and the masters vote at once.`);

    const next = await testBed.trySellInside(second, { untilResumed: true }, ENTRY_LIMIT_MS);
    if (next === undefined) return notStaged(`${second.name} did not get in, so nothing was at stake.`);
    await testBed.say(`Sale ${next.saleId} on ${second.name} is inside.`);
    const arriveAt = askedAt + 2 * DELAY_MS;
    await testBed.waitFor(async () => sharedClock() > arriveAt || undefined, 3 * DELAY_MS);
    const measuredMs = await delayMs;
    await testBed.say(`The votes have come back to ${first.name}, after ${formatDuration(measuredMs)}.`);
    await testBed.mustBeInside(next);
    await second.resume();
    await next.end;
    delay.end();
    late.over();
    const end = await sale.end;

    const outcome = await testBed.outcome();
    const entry = outcome.events.find(
      ({ type, node, at }) => type === 'entered' && node === first.name && at > askedAt,
    );
    if (measuredMs < LEASE_MS) return notStaged(`The answers were not late: they took ${formatDuration(measuredMs)}.`);
    if (entry && entry.at - askedAt < LEASE_MS) return notStaged(`${first.name} entered before the votes were late.`);
    const { overlaps, witnesses: meetings } = overlapsOf(outcome);
    const { lostUpdates, finalStock, expectedStock, witnesses } = readStock(outcome);
    const figures = { overlaps, lostUpdates, delayMs: measuredMs, endedMs: end.ms, finalStock, expectedStock };
    if (overlaps > 0 || lostUpdates > 0) {
      const reason = `${first.name} entered on votes that had ended, while sale ${next.saleId} was inside. The stock is ${finalStock} of ${initialStock}.`;
      return { verdict: 'fail', reason, figures, witnesses: [...witnesses, ...meetings] };
    }
    const what = end.outcome === 'sold' ? 'waited, and sold later' : `was refused after ${formatDuration(end.ms)}`;
    const reason = `${first.name} did not enter on votes that came ${formatDuration(measuredMs)} late: it ${what}.`;
    return { verdict: 'pass', reason, figures, witnesses: [] };
  },
};
