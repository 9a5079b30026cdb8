// A sale is inside, and somebody only looks at the stock. Does the answer wait for the sale? May two look at the same time, and does a
// sale wait for them? And does a sale get in while others look without end?

import { isSame } from '../evidence/history.ts';
import { formatDuration } from '../evidence/numbers.ts';
import { readStock } from '../evidence/stock.ts';
import { sharedClock, startTimer, stopTimer } from '../harness/clock.ts';
import { isStockRead } from '../harness/faults.ts';
import type { Look, LookEnd } from '../harness/single-look.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';
import type { TestBed } from '../harness/test-bed.ts';

/** Of the lease, so much one waits to see that somebody is kept out. */
const KEPT_OUT = 1 / 4;
/** Of the lease, so much two have to come together. */
const TOGETHER = 1 / 2;
/** So many who came later and looked first show that nothing bounds them. */
const LOOKS = 10;
/** How late the answers of Redis are to those who look without end, in milliseconds: each is still inside when the next one asks. */
const SLOW_MS = 150;
/** How long the reading of one who looks is held, so that a sale can ask meanwhile: in milliseconds. A node gives up one that takes 700 ms. */
const ASK_LIMIT_MS = 400;
const STEP_LIMIT_MS = 5_000;
/** So much later the drill may see what it looks for, in milliseconds. */
const LOOK_MS = 30;

type Figures = Judgement['figures'];

export const earlyRead: StepDrill = {
  name: 'early-read',
  needs: ['links'],
  async run(testBed): Promise<Judgement> {
    const figures: Figures = {};
    for (const play of [lookDuringSale, lookTogether, lookWithoutEnd]) {
      const judgement = await play(testBed, figures);
      if (judgement) return judgement;
    }
    const { lostUpdates, witnesses } = readStock(await testBed.outcome());
    if (lostUpdates > 0) return { ...fails('A sale was lost.', { ...figures, lostUpdates }), witnesses };
    const reason = `Who looked waited for the sale, two looked at once, and a sale waited ${formatDuration(figures['waitedMs'] ?? 0)} for those who look without end.`;
    return { verdict: 'pass', reason, figures, witnesses: [] };
  },
};

const fails = (reason: string, figures: Figures): Judgement => ({ verdict: 'fail', reason, figures, witnesses: [] });
const saidOf = ({ remaining, code = 'nothing' }: LookEnd) => (remaining === undefined ? code : String(remaining));

/** A sale is between its read and its write, and the other node is asked for the stock. */
async function lookDuringSale(testBed: TestBed, figures: Figures): Promise<Judgement | undefined> {
  const { first, second, leaseMs } = testBed;
  const sale = await testBed.sellInside(first, { untilResumed: true });
  const tried = await testBed.triesOf(second);
  await testBed.say(
    `Sale ${sale.saleId} on ${first.name} holds the lock and has read the stock. ${second.name} is asked for it.`,
  );
  const look = testBed.look(second);
  const asked = testBed.mark('asked for the stock', { node: second });
  await testBed.waitFor(async () => look.ended(), KEPT_OUT * leaseMs);
  await testBed.mustBeInside(sale);
  const hasAsked = look.ended() !== undefined || (await testBed.triesOf(second)) > tried;
  await first.resume();
  await sale.end;
  const end = await endOf(look);
  asked.over();
  if (!hasAsked) return notStaged(`${second.name} asked for no lock, and answered nothing.`, { isLate: true });
  if (end.remaining === undefined)
    return notStaged(`${second.name} was asked for the stock, and answered ${saidOf(end)}.`);

  const wrote = (await testBed.events()).find((event) => event.type === 'wrote' && isSame(event, sale));
  if (wrote === undefined) return notStaged(`Sale ${sale.saleId} on ${sale.node} did not write.`);
  figures['earlyAnswers'] = end.at < wrote.at ? 1 : 0;
  if (end.at < wrote.at) {
    const reason = `${second.name} answered ${end.remaining} while sale ${sale.saleId} on ${first.name} was between its read and its write.`;
    return fails(reason, figures);
  }
  if (end.remaining !== wrote.stock) {
    return fails(
      `${second.name} answered ${end.remaining}; sale ${sale.saleId} had written ${wrote.stock} by then.`,
      figures,
    );
  }
  await testBed.step(`It answered when the sale had left, and with what it wrote: ${end.remaining}.`);
  return undefined;
}

/** Both nodes look at the same time, and a sale comes while one of them does. */
async function lookTogether(testBed: TestBed, figures: Figures): Promise<Judgement | undefined> {
  const { first, second, leaseMs } = testBed;
  const [one, other] = [holdRead(testBed, first), holdRead(testBed, second)];
  const firstLook = testBed.look(first);
  const firstAskedAt = sharedClock();
  if (!(await testBed.waitFor(one.hasArrived, STEP_LIMIT_MS)))
    return notStaged(`${first.name} did not read the stock.`);
  const tried = await testBed.triesOf(second);
  const secondLook = testBed.look(second);
  const areTogether = await testBed.waitFor(other.hasArrived, TOGETHER * leaseMs);
  // Who has not asked yet is not kept out.
  const hasAsked = areTogether || (await testBed.triesOf(second)) > tried;
  figures['readersAtOnce'] = areTogether ? 2 : 1;
  await other.read.letGo();
  if (areTogether) {
    await testBed.say(
      `Both nodes are asked for the stock, and both are about to read it. Then a sale comes to ${second.name}.`,
    );
    await endOf(secondLook);
  }
  const triedBefore = await testBed.triesOf(second);
  const sale = areTogether ? testBed.sell(second) : undefined;
  const enteredAt = async () => {
    const events = await second.history();
    return events.events.find(({ type, at }) => type === 'entered' && at > firstAskedAt)?.at;
  };
  if (sale) await testBed.waitFor(enteredAt, KEPT_OUT * leaseMs);
  const hasSaleAsked = (await testBed.triesOf(second)) > triedBefore;
  const letGoAt = sharedClock();
  await one.read.letGo();
  const ends = await Promise.all([endOf(firstLook), endOf(secondLook)]);
  await sale?.end;
  if (letGoAt - firstAskedAt > 0.9 * leaseMs) {
    return notStaged('The lease of the one who looked was over before the sale could be seen to wait.', {
      isLate: true,
    });
  }
  if (ends.some(({ remaining }) => remaining === undefined)) {
    return notStaged(`Two looked at the same time, and were answered ${ends.map(saidOf).join(' and ')}.`);
  }
  if (!hasAsked || (sale && !hasSaleAsked)) return notStaged(`${second.name} asked for no lock.`, { isLate: true });
  if (!areTogether)
    return fails(`Who looks waits for others who only look: ${second.name} for ${first.name}.`, figures);
  const entered = await enteredAt();
  if (entered === undefined) return notStaged(`The sale on ${second.name} did not enter.`);
  if (entered < letGoAt)
    return fails(`A sale entered on ${second.name} while ${first.name} was about to read the stock.`, figures);
  await testBed.step('The sale entered when nobody looked any more.');
  return undefined;
}

/** On one node somebody looks at any time, and a sale comes to the other one. */
async function lookWithoutEnd(testBed: TestBed, figures: Figures): Promise<Judgement | undefined> {
  const { first, second, leaseMs } = testBed;
  const slow = testBed.delayAnswers(first, SLOW_MS);
  const line = testBed.mark('line slow', { node: first });
  const { commands, end: unwatch } = testBed.watchCommands(first);
  const reads = () => commands.filter(isStockRead).length;
  const held = holdRead(testBed, first);
  const looks = [testBed.look(first)];
  if (!(await testBed.waitFor(held.hasArrived, STEP_LIMIT_MS))) {
    return notStaged(`${first.name} did not read the stock.`);
  }
  const heldAt = sharedClock();
  const askLimitMs = Math.min(TOGETHER * leaseMs, ASK_LIMIT_MS);
  const sale = testBed.sell(second);
  let hasEnded = false;
  void sale.end.then(() => (hasEnded = true));
  const isWaiting = async () => (await second.state()).waiting === 1 || undefined;
  const hasWaited = await testBed.waitFor(isWaiting, askLimitMs);
  await testBed.hasAsked(second);
  const askedAt = sharedClock();
  await held.read.letGo();
  // From here on the answer to its reading is on the way to the one who looks.
  const readAt = sharedClock();
  if (!hasWaited || askedAt - heldAt > askLimitMs) {
    return notStaged(`The sale on ${second.name} did not ask while somebody looked.`, { isLate: true });
  }
  await testBed.say(`A sale waits on ${second.name}, and others look at the stock on ${first.name} without end.`);

  let overtakes = 0;
  while (overtakes < LOOKS) {
    const before = reads();
    looks.push(testBed.look(first));
    // One who may look is about to read, and stays inside until the next one has asked.
    await testBed.waitFor(async () => hasEnded || reads() > before || undefined, leaseMs);
    if (hasEnded || reads() === before) break;
    overtakes += 1;
  }
  const waitedMs = sharedClock() - askedAt;
  const isStarved = overtakes === LOOKS && !hasEnded;
  slow.over();
  line.over();
  const end = await sale.end;
  const ends = await Promise.all(looks.map(endOf));
  unwatch();
  // It gave its lock back when it had its answer, and not before.
  if ((ends[0]?.at ?? 0) - readAt < SLOW_MS - LOOK_MS) return notStaged(`Who looked on ${first.name} was not slow.`);
  Object.assign(figures, { overtakes, waitedMs });
  if (isStarved)
    return fails(
      `${LOOKS} looked first who had come later, one after the other, and nothing bounds how many more.`,
      figures,
    );
  if (end.outcome !== 'sold') return notStaged(`The sale on ${second.name} was refused.`, { isLate: true });
  return undefined;
}

/** Holds the next reading of the stock by a node on its way to Redis. */
function holdRead(testBed: TestBed, node: TestBed['first']) {
  const read = testBed.holdNext(node, isStockRead);
  let isThere = false;
  read.arrived.then(
    () => (isThere = true),
    () => {},
  );
  return { read, hasArrived: async () => isThere || undefined };
}

/** How a look ended. One that is not answered in time is hung up. */
async function endOf(look: Look): Promise<LookEnd> {
  const timer = startTimer(look.hangUp, STEP_LIMIT_MS);
  return look.end.finally(() => stopTimer(timer));
}
