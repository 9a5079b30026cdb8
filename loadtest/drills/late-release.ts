// A holder's release is held up on its way and arrives when its lease is over and another holds the lock. Whose lock does it
// delete?

import { NotStagedError } from '../evidence/not-staged.ts';
import { countOf, formatDuration } from '../evidence/numbers.ts';
import { overlapsOf } from '../evidence/overlaps.ts';
import { sharedClock } from '../harness/clock.ts';
import { findRelease, type ReleaseCommand } from '../harness/release-commands.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';
import type { TestBed } from '../harness/test-bed.ts';

/** How long a sale may take to be inside when the last round has left nothing behind, in milliseconds. */
const STEP_LIMIT_MS = 5_000;

export const lateRelease: StepDrill = {
  name: 'late-release',
  needs: ['links'],
  async run(testBed): Promise<Judgement> {
    const { commands, more, otherKey } = await findRelease(testBed);
    if (otherKey !== undefined) {
      const reason = `It keeps something under "${otherKey}": use the key that you are given, and begin the names of further keys with it.`;
      return { verdict: 'fail', reason, figures: { otherKeys: 1 }, witnesses: [] };
    }
    if (commands.length === 0) {
      return notStaged('Its release sends no command with the key of the lock.', { nothingToBreak: true });
    }
    const [first, ...others] = commands;
    let judged = await playRound(testBed, first as ReleaseCommand, others.length > 0);
    for (const command of others) {
      if (judged.verdict !== 'pass') return judged;
      const { figures } = judged;
      judged = await playRound(testBed, command, true);
      judged = { ...judged, figures: { ...figures, ...judged.figures } };
    }
    if (judged.verdict !== 'pass' || commands.length === 1) return judged;
    const names = commands.map(({ name }) => name).join(', ');
    const left = more > 0 ? ` ${countOf(more, 'command')} after them were not held.` : '';
    return { ...judged, reason: `${judged.reason} Each command of the release was late once: ${names}.${left}` };
  },
};

/**
 * Holds one command of a release until another holds the lock, and a third one asks. `isOneOfSeveral`: an earlier command may have freed
 * the lock, so that the other one need not wait for the end of the lease.
 */
async function playRound(
  testBed: TestBed,
  { name, createMeant }: ReleaseCommand,
  isOneOfSeveral: boolean,
): Promise<Judgement> {
  const { first, second, leaseMs } = testBed;
  const command = name === undefined ? 'release' : `release (${name})`;
  const startedAt = sharedClock();
  const late = await testBed.trySellInside(first, { untilResumed: true }, STEP_LIMIT_MS + 2 * leaseMs);
  if (late === undefined) return notStaged(`The sale on ${first.name} did not stay inside.`);
  await testBed.say(`Sale ${late.saleId} on ${first.name} holds the lock, and now gives it up.`);
  const release = await testBed.holdOnItsWay(first, createMeant(), first.resume).catch((error) => {
    // It was sent before: this time something else was.
    if (error instanceof NotStagedError) throw new NotStagedError(error.message);
    throw error;
  });
  const held = testBed.mark(`${command} held`, { sale: late });
  await testBed.step(`Its ${command} is held up on the line to Redis.`);

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
    await testBed.outcome();
    const reason = `Nobody could enter within ${formatDuration(keptOutMs)}; the price of the late release is that everybody waited.`;
    return { verdict: 'pass', reason, figures: { overlaps: 0, keptOutMs }, witnesses: [] };
  }
  const holder = `${next.saleId} on ${second.name}`;
  await testBed.say(
    isOneOfSeveral ? `Sale ${holder} holds the lock.` : `The lease is over: sale ${holder} holds the lock.`,
  );
  await second.script({ pauseMs: Math.round(leaseMs / 4) });
  const third = testBed.sell(second);
  await testBed.waitFor(async () => (await second.state()).waiting === 1 || undefined, leaseMs / 4);
  held.over();
  await release.arrive();
  await testBed.say(`A third sale asks, and the late ${command} arrives.`);

  const isNext = (sale: { saleId: string }) => sale.saleId === next.saleId;
  const isOfRound = (hold: { node: string; entered: number }) => hold.node === second.name && hold.entered >= startedAt;
  const others = async () => (await testBed.holds()).filter(isOfRound);
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
  const asked = outcome.events.filter(
    ({ type, node, at }) => type === 'waiting' && node === second.name && at >= startedAt,
  );
  const isEarly = lateHold && nextHold && nextHold.entered - lateHold.entered < 0.9 * leaseMs;
  if (!lateHold || !nextHold || (isEarly && !isOneOfSeveral)) {
    // The lease counts in Redis: a node that hears late that it has the lock enters late, and has less of it.
    const reason = `${second.name} entered before the lease was over, so the release was not late.`;
    return notStaged(reason, { isLate: true });
  }
  if (nextHold.left - nextHold.entered >= leaseMs) {
    const reason = `Sale ${next.saleId} stayed longer than its own lease, which proves nothing about the release.`;
    return notStaged(reason, { isLate: true });
  }
  if (asked.every((sale) => isNext(sale) || sale.at > nextHold.left)) {
    return notStaged('Nobody asked for the lock when the release arrived.', { isLate: true });
  }
  const { overlaps, witnesses } = overlapsOf(outcome, isOfRound);
  const figures = { overlaps };
  if (overlaps > 0) {
    const reason = `The late ${command} deleted the lock of sale ${next.saleId}, and sale ${thirdHold?.saleId} entered as well.`;
    return { verdict: 'fail', reason, figures, witnesses };
  }
  const reason = `The late ${command} did nothing: the third sale entered after sale ${next.saleId} had left.`;
  return { verdict: 'pass', reason, figures, witnesses };
}
