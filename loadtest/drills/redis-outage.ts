// Redis stops answering in the middle of a rush: once it stands still, once it is killed and started again with its data. Is
// everybody answered, is no sale lost, and does the shop sell again?

import type { SaleEnd } from '../evidence/answers.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { countOf, formatDuration, formatNumber } from '../evidence/numbers.ts';
import { overlapsOf } from '../evidence/overlaps.ts';
import { readStock } from '../evidence/stock.ts';
import { sharedClock, sleep } from '../harness/clock.ts';
import { describeLeftKey, type LeftKey } from '../harness/left-keys.ts';
import { type Judgement, notStaged, type StepDrill } from '../harness/step-drill.ts';
import type { TestBed } from '../harness/test-bed.ts';

/** There are fewer where the load has fewer connections. */
const MOST_BUYERS = 20;
/** How long a buyer who was refused waits before the next try, in milliseconds. */
const BEFORE_NEXT_TRY_MS = 100;
const OUTAGE_MS = 3_000;
/** How long a request may stay unanswered while Redis is away, and how long the shop may stand still afterwards. */
const LIMIT_MS = 2_000;
/** A machine on which an answer that needs no Redis takes this long is too busy to be judged by the limit, in milliseconds. */
const BUSY_MS = LIMIT_MS / 4;
/** So many such delays may be in the answer to a buyer: its sale has waited for the one before it, and for other servers. */
const DELAYS = 5;
/** How many sales show that the rush is under way. */
const SOME_SALES = 50;
const RUSH_LIMIT_MS = 10_000;

interface Outage {
  label: string;
  from: number;
  until: number;
  /** The slowest answer of a node meanwhile that needs no Redis. */
  baselineMs: number;
  /** From Redis' return to the next sale. Absent when there was none in time. */
  backMs?: number;
  /** What was in Redis then, besides the stock: nobody sells because of one of them. */
  stayed: LeftKey[];
}

export const redisOutage: StepDrill = {
  name: 'redis-outage',
  needs: ['redis process'],
  // A lease that outlasts the outage: nobody may enter because of it.
  timing: { leaseMs: 2 * OUTAGE_MS + LIMIT_MS },
  stock: 1_000_000,
  async run(testBed): Promise<Judgement> {
    const ends: SaleEnd[] = [];
    let isRush = true;
    const rush = Promise.all(
      Array.from({ length: buyersOf(testBed) }, async (_, buyer) => {
        while (isRush) {
          const end = await testBed.sell(buyer % 2 ? testBed.first : testBed.second).end;
          ends.push(end);
          if (end.outcome !== 'sold') await sleep(BEFORE_NEXT_TRY_MS);
        }
      }),
    );
    // A drill that is stopped waits for nobody.
    rush.catch(() => {});
    const outages: Outage[] = [];
    try {
      const stop = await outage(testBed, ends, 'Redis stands still (SIGSTOP)', testBed.stopRedis);
      outages.push(stop);
      // A shop that does not sell again shows nothing of a second outage, and the embedded server would come back empty.
      if (stop.backMs !== undefined && testBed.redisKind === 'native')
        outages.push(await outage(testBed, ends, 'Redis is killed (SIGKILL)', testBed.killRedis));
    } finally {
      isRush = false;
    }
    await rush;
    return judge(testBed, ends, outages);
  },
};

/** `npm run drill` has no load, and 0 connections. */
const buyersOf = ({ connections }: TestBed) => Math.min(MOST_BUYERS, connections || MOST_BUYERS);

async function outage(
  testBed: TestBed,
  ends: SaleEnd[],
  label: string,
  start: () => Promise<{ comeBack(): Promise<void> }>,
): Promise<Outage> {
  const soldSince = (at: number) => ends.filter((end) => end.outcome === 'sold' && end.sentAt >= at).length;
  const startedAt = sharedClock();
  const isRush = await testBed.waitFor(async () => soldSince(startedAt) >= SOME_SALES || undefined, RUSH_LIMIT_MS);
  if (!isRush) throw new NotStagedError(`${SOME_SALES} sales did not take place before the outage.`, { isLate: true });
  const redis = await start();
  const baseline = watchBaseline(testBed);
  try {
    const from = sharedClock();
    const fault = testBed.mark(label);
    await testBed.say(`${buyersOf(testBed)} buyers come again and again. ${label}.`);
    await testBed.waitFor(async () => sharedClock() - from >= OUTAGE_MS || undefined, 2 * OUTAGE_MS);
    const until = sharedClock();
    await redis.comeBack();
    fault.over();
    const backAt = sharedClock();
    const isBack = await testBed.waitFor(
      async () => ends.some(({ outcome, sentAt, ms }) => outcome === 'sold' && sentAt + ms > backAt) || undefined,
      LIMIT_MS,
    );
    const backMs = sharedClock() - backAt;
    const stayed = isBack ? [] : await testBed.keysLeft();
    await testBed.say(
      isBack ? `Redis is back, and sales flow again after ${formatDuration(backMs)}.` : 'Redis is back.',
    );
    return { label, from, until, baselineMs: await baseline.slowestMs(), stayed, ...(isBack && { backMs }) };
  } finally {
    baseline.end();
  }
}

/** Asks both nodes for what needs no Redis, again and again until it is ended. */
function watchBaseline({ first, second }: TestBed) {
  const over = new AbortController();
  const slowest = [first, second].map(async (node) => {
    let slowestMs = 0;
    while (!over.signal.aborted) {
      const askedAt = sharedClock();
      await node.state();
      slowestMs = Math.max(slowestMs, sharedClock() - askedAt);
      await sleep(BEFORE_NEXT_TRY_MS, undefined, { signal: over.signal }).catch(() => {});
    }
    return slowestMs;
  });
  // A node that is silent is found out when the outage is over.
  for (const each of slowest) each.catch(() => {});
  const end = () => over.abort();
  return {
    end,
    /** Ends it, and resolves with how long the slowest answer took. */
    async slowestMs() {
      end();
      return Math.max(...(await Promise.all(slowest)));
    },
  };
}

async function judge(testBed: TestBed, ends: SaleEnd[], outages: Outage[]): Promise<Judgement> {
  const outcome = await testBed.outcome();
  const { lostUpdates, sold, inDoubt, witnesses } = readStock(outcome);
  const { overlaps } = overlapsOf(outcome);
  const refused = ends.filter((end) => end.outcome === 'failed' || end.outcome === 'lockTimeout').length;
  const lost = ends.filter((end) => end.outcome === 'cutOff' || end.outcome === 'nonsense').length;
  /** How long each request that was under way during an outage stayed unanswered in it. */
  const waits = outages.map(({ from, until }) =>
    ends
      .filter(({ sentAt, ms }) => sentAt < until && sentAt + ms > from)
      .map(({ sentAt, ms }) => Math.min(sentAt + ms, until) - Math.max(sentAt, from)),
  );
  const slowestMs = Math.max(0, ...waits.flat());
  const baselineMs = Math.max(...outages.map((outage) => outage.baselineMs));
  const backMs = Math.max(...outages.map((outage) => outage.backMs ?? Number.POSITIVE_INFINITY));
  const figures = {
    sent: ends.length,
    sold,
    refused,
    inDoubt,
    lostUpdates,
    overlaps,
    cutOff: lost,
    limitMs: LIMIT_MS,
    slowestMs,
    baselineMs,
    ...(backMs < Number.POSITIVE_INFINITY && { backMs }),
  };

  if (waits.some((waits) => waits.length < buyersOf(testBed)))
    return notStaged('The rush had not begun when Redis went away.');
  const served = outages.some(({ from, until }) =>
    ends.some((end) => end.outcome === 'sold' && end.sentAt > from && end.sentAt + end.ms < until),
  );
  if (served) return notStaged('Redis answered while it was to be away.');
  const isLate = slowestMs > LIMIT_MS || backMs > LIMIT_MS;
  const lateMs = Math.max(slowestMs, backMs) - LIMIT_MS;
  if (isLate && (baselineMs > BUSY_MS || lateMs <= DELAYS * baselineMs) && lostUpdates === 0) {
    const late =
      slowestMs > LIMIT_MS
        ? `an answer took ${formatDuration(slowestMs)}`
        : `the next sale did not come within ${formatDuration(LIMIT_MS)} of Redis' return`;
    return notStaged(
      `The machine is too busy: ${late}, and an answer that needs no Redis took ${formatDuration(baselineMs)}.`,
      { isLate: true },
    );
  }
  const faults = [
    ...(lostUpdates > 0 ? [`${countOf(lostUpdates, 'sale')} lost.`] : []),
    ...(lost > 0 ? [`${lost} requests were cut off or answered with nonsense.`] : []),
    ...(slowestMs > LIMIT_MS ? [`An answer took ${formatDuration(slowestMs)}.`] : []),
    ...outages
      .filter((outage) => outage.backMs === undefined)
      .map(
        ({ label, stayed }) =>
          `${label}: no sale within ${formatDuration(LIMIT_MS)} of its return.${stayed.map(describeLeftKey).join('')}`,
      ),
  ];
  if (faults.length > 0) return { verdict: 'fail', reason: faults.join(' '), figures, witnesses };
  const only = outages.length > 1 ? '' : ' Redis was not restarted: the embedded Valkey keeps no data over a restart.';
  const reason = `No sale is lost, ${inDoubt} of ${formatNumber(ends.length)} are in doubt. While Redis was away an answer took ${formatDuration(slowestMs)} at most; after its return sales flowed again in ${formatDuration(backMs)}.${only}`;
  return { verdict: 'pass', reason, figures, witnesses };
}
