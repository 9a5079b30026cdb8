// Two baskets have the same two skus in them, and name them in opposite orders. Each node that has one of the two locks is held back from the
// other lock, until both have gone as far as they come. Then they go on: do both sell, or does each wait for what the other has?

import { lockKey } from '../../services/inventory/store.ts';
import type { BasketEnd } from '../evidence/answers.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { formatDuration } from '../evidence/numbers.ts';
import { sharedClock, startTimer, stopTimer } from '../harness/clock.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';
import type { TargetNode } from '../harness/target.ts';
import type { TestBed } from '../harness/test-bed.ts';

const SKUS = ['001', '002'];
/** How long a basket may take to come to its second lock, or to find its first one taken, in milliseconds. */
const STEP_LIMIT_MS = 2_000;

/** What became of two baskets: those that have no answer within the limit are cut off. */
interface Round {
  ends: BasketEnd[];
  /** Each had one of the two locks, and was about to ask for the other. */
  areCrossed: boolean;
}

export const crossedSkus: StepDrill = {
  name: 'crossed-skus',
  needs: ['links'],
  async run(testBed): Promise<Judgement> {
    const { first, second, initialStock } = testBed;
    await testBed.addSku(SKUS[1] ?? '');
    const rounds: Round[] = [];
    for (const [one, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const round = await playRound(testBed, one, other);
      rounds.push(round);
      if (round.ends.some(({ outcome }) => outcome !== 'sold')) break;
    }
    // By then no basket is in flight.
    await testBed.outcome();
    if ((await testBed.events()).some(({ type }) => type === 'lease-lost')) {
      return notStaged('A lease ended while a basket was held back.', { isLate: true });
    }
    const stocks = await Promise.all(SKUS.map((sku) => first.stock(sku)));
    return judge(rounds, stocks, { initialStock, limitMs: limitOf(testBed) });
  },
};

/** How long both may take from when they go on, in milliseconds. */
const limitOf = ({ leaseMs }: TestBed) => 2 * leaseMs;

/** One node is the first to ask; the other one comes when that has a lock. */
async function playRound(testBed: TestBed, one: TargetNode, other: TargetNode): Promise<Round> {
  const basketOf = (node: TargetNode) => (node === testBed.first ? SKUS : SKUS.toReversed());
  const named = (node: TargetNode) => `${node.name} sells a basket of ${basketOf(node).join(' and ')}`;
  await testBed.step(`${named(one)}, ${named(other)}.`);

  const ahead = holdSecondLock(testBed, one);
  const behind = holdSecondLock(testBed, other);
  const baskets = [testBed.sellBasket(one, basketOf(one))];
  if (!(await testBed.waitFor(async () => ahead.hasCome() || undefined, STEP_LIMIT_MS))) {
    throw new NotStagedError(`${one.name} never asked for a second lock.`);
  }
  const taken = await locksTaken(testBed);
  if (taken.length !== 1) throw new NotStagedError(`${one.name} had ${taken.length} of the locks, instead of one.`);
  const mark = testBed.mark(`holds ${taken[0]}, and not the other`, { node: one });
  await testBed.say(`${one.name} has the lock of ${taken[0]}, and is held back from the other.`);

  baskets.push(testBed.sellBasket(other, basketOf(other)));
  // A second try for the same lock is made when the first one was in vain.
  const hasGoneFar = async () => behind.hasCome() || behind.tries() > 1 || undefined;
  if (!(await testBed.waitFor(hasGoneFar, STEP_LIMIT_MS))) {
    throw new NotStagedError(`${other.name} neither took a lock nor was kept out.`);
  }
  const areCrossed = behind.hasCome();
  if (!areCrossed) behind.cancel();
  await testBed.say(
    areCrossed
      ? `${other.name} has the other one, and asks for that of ${taken[0]}.`
      : `${other.name} asks for the lock of ${taken[0]} first, too, and waits.`,
  );
  mark.over();
  const haveReached = await Promise.all([ahead, ...(areCrossed ? [behind] : [])].map(({ letGo }) => letGo()));
  // A node does not wait for an answer for long.
  if (haveReached.includes(false))
    throw new NotStagedError('A command that was held never reached Redis.', { isLate: true });
  const timers = baskets.map(({ hangUp }) => startTimer(hangUp, limitOf(testBed)));
  const goesOnAt = sharedClock();
  const ends = await Promise.all(baskets.map(({ end }) => end));
  for (const timer of timers) stopTimer(timer);
  return { ends: ends.map((end) => ({ ...end, ms: end.sentAt + end.ms - goesOnAt })), areCrossed };
}

/** Holds what a node sends for another lock than the first that it asks for. */
function holdSecondLock(testBed: TestBed, node: TargetNode) {
  const keys = SKUS.map((sku) => lockKey(sku, testBed.stage));
  let first: string | undefined;
  let tries = 0;
  let hasCome = false;
  const held = testBed.holdNext(node, ({ args }) => {
    const key = keys.find((each) => args.includes(each));
    if (key === undefined) return false;
    first ??= key;
    if (key === first) tries += 1;
    return key !== first;
  });
  held.arrived.then(
    () => (hasCome = true),
    () => {},
  );
  return { hasCome: () => hasCome, tries: () => tries, letGo: held.letGo, cancel: held.cancel };
}

/** The skus whose locks are taken, as Redis says. */
async function locksTaken(testBed: TestBed): Promise<string[]> {
  const left = await testBed.keysLeft();
  return SKUS.filter((sku) => left.some(({ key }) => key === lockKey(sku, testBed.stage)));
}

function judge(
  rounds: Round[],
  stocks: (number | undefined)[],
  { initialStock, limitMs }: { initialStock: number; limitMs: number },
): Judgement {
  const ends = rounds.flatMap(({ ends }) => ends);
  const sold = ends.filter(({ outcome }) => outcome === 'sold').length;
  const unsold = ends.length - sold;
  const refused = ends.flatMap((end) => ('code' in end ? [end.code] : []));
  // A client that hung up was not answered; its basket may have been sold at that moment.
  const inDoubt = ends.filter(({ outcome }) => ['inDoubt', 'cutOff', 'nonsense'].includes(outcome)).length;
  const expectedStock = initialStock - sold;
  const [lowest, highest] = [Math.min(...stocks.map(Number)), Math.max(...stocks.map(Number))];
  const lostUpdates = Math.max(0, highest - expectedStock);
  const slowestSaleMs = Math.max(...ends.map(({ ms }) => ms));
  const figures = {
    asked: ends.length,
    sold,
    unsold,
    inDoubt,
    expectedStock,
    finalStock: highest,
    lostUpdates,
    slowestSaleMs,
    limitMs,
  };
  const witnesses = stocks.map((stock, at) => `Of ${SKUS[at]} ${stock} are left of ${initialStock}`);
  const areCrossed = rounds.some((round) => round.areCrossed);
  if (ends.some(({ outcome }) => outcome === 'soldOut')) return notStaged('There was not enough in stock.');
  if (!(lowest >= expectedStock - inDoubt)) {
    return notStaged(`The stock is ${stocks.join(' and ')}, and ${expectedStock} is what the baskets explain.`);
  }
  if (lostUpdates > 0 || lowest !== highest) {
    const reason = `${sold} baskets were sold, and the stock is ${stocks.join(' and ')} instead of ${expectedStock}.`;
    return { verdict: 'fail', reason, figures, witnesses };
  }
  if (unsold > 0) {
    const why = areCrossed
      ? 'each had the lock that the other waited for'
      : `they were answered ${refused.join(', ') || 'nothing'}`;
    const reason = `${unsold} baskets were not sold within ${formatDuration(limitMs)}: ${why}.`;
    return { verdict: 'fail', reason, figures, witnesses };
  }
  const how = areCrossed ? 'though each had a lock that the other wanted' : 'one after the other';
  return { verdict: 'pass', reason: `All ${sold} baskets were sold, ${how}.`, figures, witnesses: [] };
}
