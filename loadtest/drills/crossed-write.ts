// A holder's stock write is held up on its way, and arrives when the next holder has read and has not yet written. Is one of the
// two sales lost?

import { isSame } from '../evidence/history.ts';
import { formatDuration } from '../evidence/numbers.ts';
import { readStock } from '../evidence/stock.ts';
import { sharedClock } from '../harness/clock.ts';
import { isStockWrite } from '../harness/faults.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';

export const crossedWrite: StepDrill = {
  name: 'crossed-write',
  needs: ['links'],
  async run(testBed): Promise<Judgement> {
    const { first, second, leaseMs } = testBed;
    const late = await testBed.sellInside(first, { untilResumed: true });
    await testBed.say(`Sale ${late.saleId} on ${first.name} ${testBed.soFar}. Now it writes.`);
    const write = await testBed.holdOnItsWay(first, isStockWrite, first.resume);
    const held = testBed.mark('write held', { sale: late });
    await testBed.step('Its write is held up on the line to Redis.');

    await testBed.say(`${second.name} asks for the lock.`);
    const askedAt = sharedClock();
    const next = await testBed.trySellInside(second, { untilResumed: true }, 2.5 * leaseMs);
    const keptOutMs = sharedClock() - askedAt;
    if (next === undefined) await testBed.mustHaveWaited(second, askedAt);
    else await testBed.step(`Sale ${next.saleId} on ${second.name} ${testBed.soFar}.`);

    held.over();
    const stockBefore = await second.stock();
    await write.arrive();
    testBed.mark('write arrives', { sale: late });
    const isWritten = (await second.stock()) !== stockBefore;
    await testBed.say(isWritten ? 'The write arrives, and changes the stock.' : 'The write arrives, and is refused.');
    const resumedAt = sharedClock();
    if (next) {
      await testBed.say(`Sale ${next.saleId} on ${second.name} writes what it has made of its own reading.`);
      await second.resume();
      await next.end;
    }
    testBed.restore(first);

    const outcome = await testBed.outcome();
    const { lostUpdates, witnesses, finalStock, expectedStock } = readStock(outcome, isWritten ? [late] : []);
    const figures = { lostUpdates, finalStock, expectedStock };
    if (next === undefined) {
      const reason = `Nobody could enter within ${formatDuration(keptOutMs)}, until the late write had come; the price is that everybody waited.`;
      return { verdict: 'pass', reason, figures: { ...figures, keptOutMs }, witnesses: [] };
    }

    const own = outcome.events.filter((event) => isSame(event, next));
    const reading = own.find(({ type }) => type === 'read');
    if (reading === undefined || reading.at > resumedAt) {
      const reason = `Sale ${next.saleId} had not read the stock when the late write came: its reading and its writing are one step.`;
      return notStaged(reason, { nothingToBreak: true });
    }
    if (reading.stock !== outcome.initialStock) return notStaged('The write was not held up.');
    if (own.some(({ type, at }) => ['wrote', 'left'].includes(type) && at < resumedAt)) {
      return notStaged(`Sale ${next.saleId} on ${second.name} was not inside any more when the late write came.`);
    }
    const hasWritten = own.some(({ type }) => type === 'wrote');
    if (!hasWritten && (await next.end).outcome !== 'failed') {
      return notStaged(`Sale ${next.saleId} was neither written nor refused.`);
    }
    if (lostUpdates > 0) {
      const reason = `The stock took the writes of both sales, and fell from ${outcome.initialStock} to ${finalStock}: sale ${next.saleId} on ${second.name} undid the late write.`;
      return { verdict: 'fail', reason, figures, witnesses };
    }
    const reason = isWritten
      ? `The late write was taken, and sale ${next.saleId} on ${second.name} was refused: no sale is lost.`
      : `The late write was refused between the read and the write of sale ${next.saleId} on ${second.name}: no sale is lost.`;
    return { verdict: 'pass', reason, figures, witnesses };
  },
};
