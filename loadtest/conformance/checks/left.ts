// Checks what holders and waiters leave behind: keys, connections, subscriptions, timers, listeners, memory.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { NotStagedError } from '../../evidence/not-staged.ts';
import { countOf, listOf } from '../../narration/numbers.ts';
import type { Holder } from '../holder.ts';
import { Fault, holds, STEP_LIMIT_MS } from '../outcome.ts';
import { LONG_LEASE_MS, type LockUnderTest, type Process, type Staging } from '../staging.ts';

/** The first rounds open what is kept for good, such as a connection for subscriptions. */
const FIRST_ROUNDS = 3;
const ROUNDS = 20;
const WAIT_MS = 15;
const OTHER_KEYS = 8;
/** How long the last traces may take to disappear, in milliseconds. */
const SETTLE_MS = 1_000;

export const leftovers = ({ stage }: LockUnderTest) =>
  stage(async (staging) => {
    const p = staging.process();
    for (let round = 0; round < FIRST_ROUNDS; round += 1) await goRound(staging, p);
    await staging.story.pass(SETTLE_MS);
    const before = leftOf(staging, p);
    let listeners = 0;
    for (let round = 0; round < ROUNDS; round += 1) listeners += await goRound(staging, p);
    await staging.story.pass(SETTLE_MS);
    const after = { ...leftOf(staging, p), listeners };
    const { bytes: _, ...counted } = after;
    const grown = Object.entries(counted).flatMap(([name, count]) => {
      const more = count - (before[name as keyof typeof before] ?? 0);
      return more > 0 ? [countOf(more, name.slice(0, -1))] : [];
    });
    // A key that was there before may grow, too.
    const bytes = after.bytes - before.bytes;
    if (bytes > ROUNDS) grown.push(`${countOf(bytes, 'byte')} in its keys`);
    const said = `${2 * ROUNDS} acquisitions and ${ROUNDS} aborted waiters left`;
    if (grown.length > 0) throw new Fault(`${said} ${grown.join(', ')}.`);
    await otherKeys(staging, p, after);
    return holds(`${said} no key, connection, subscription, timer or listener.`);
  });

/** Uses further keys once each. Whatever stays of each key in the process grows with the number of keys. */
async function otherKeys(staging: Staging, p: Process, before: ReturnType<typeof leftOf>) {
  for (let number = 1; number <= OTHER_KEYS; number += 1) await goRound(staging, p, `${staging.key}:${number}`);
  await staging.story.pass(SETTLE_MS);
  const after = leftOf(staging, p);
  const stays = (['connections', 'subscriptions', 'timers'] as const).filter(
    (name) => after[name] >= before[name] + OTHER_KEYS,
  );
  if (stays.length > 0) throw new Fault(`${OTHER_KEYS} more keys were used once, and each left ${listOf(stays)}.`);
}

/** One holder holds and releases, one waits and enters, one waits and is aborted. Resolves with the listeners left on their signals. */
async function goRound({ story, key }: Staging, p: Process, ofKey = key): Promise<number> {
  const holders = ['A', 'B', 'C'].map((name) => p.holder(name, LONG_LEASE_MS, ofKey)) as [Holder, Holder, Holder];
  const [a, b, c] = holders;
  await a.enters();
  const [second, third] = [b.acquire(), c.acquire()];
  await story.pass(WAIT_MS);
  c.abort();
  if ((await story.endOf(third, STEP_LIMIT_MS)).how === 'pending')
    throw new NotStagedError('An aborted waiter keeps waiting: contract-abort judges that.');
  await a.leaves();
  await b.mustEnter('The lock was free, but', STEP_LIMIT_MS, second);
  await b.leaves();
  return holders.reduce((sum, { listeners }) => sum + listeners(), 0);
}

function leftOf({ servers }: Staging, p: Process) {
  return {
    keys: Object.keys(servers.contents()).length,
    bytes: servers.keyBytes(),
    connections: p.connections(),
    subscriptions: servers.subscriptions(),
    timers: p.timers(),
  };
}

const FIRST = 200;
const TIMES = 200;
const AT_A_TIME = 10;
/** What Node itself keeps comes and goes: so many rounds say what comes in every one. */
const FEWEST_ROUNDS = 4;
const MOST_ROUNDS = 9;
/** An owner token is so long that a lock which keeps it, or a function that knows it, can't be missed, in characters. */
const TOKEN_LENGTH = 8_192;
/** More than Node itself ever keeps, and far less than a token, in bytes an acquisition. */
const MOST_BYTES = 1_000;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** How much memory each acquisition leaves behind. */
export const heap = ({ stage }: LockUnderTest) =>
  stage(async (staging) => {
    const p = staging.process();
    await repeat(staging, p, FIRST);
    const heapBytes = [heapUsed()];
    let bytesKept = Number.POSITIVE_INFINITY;
    while (bytesKept > MOST_BYTES && heapBytes.length <= MOST_ROUNDS) {
      await repeat(staging, p, TIMES);
      heapBytes.push(heapUsed());
      if (heapBytes.length > FEWEST_ROUNDS) bytesKept = Math.max(0, Math.round(medianGrowth(heapBytes) / TIMES));
    }
    const acquisitions = countOf((heapBytes.length - 1) * TIMES, 'acquisition');
    const said = `${acquisitions} with tokens of ${TOKEN_LENGTH} characters: each leaves ${countOf(bytesKept, 'byte')} in memory`;
    if (bytesKept > MOST_BYTES) throw new Fault(`${said}.`, { bytesKept });
    return holds(`${said}.`, { bytesKept });
  });

/** Some at the same time, each on a key of its own: none waits for another, and half of them lose it. What the world itself remembers is forgotten. */
async function repeat({ key, story, servers }: Staging, p: Process, times: number) {
  async function work(at: number) {
    for (let time = at; time < times; time += AT_A_TIME) {
      const ofKey = `${key}:${at}`;
      const holder = p.holder('A', LONG_LEASE_MS, ofKey, { ownerToken: longToken() });
      await holder.acquire();
      if (time % (2 * AT_A_TIME) === at) servers.endLease(ofKey);
      await holder.release().catch(() => {});
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, (_, at) => work(at)));
  await story.pass(SETTLE_MS);
  p.seen.length = 0;
  story.steps.length = 0;
  servers.forgetHeard();
}

let tokens = 0;
/** A text of its own: one that is put together shares its parts. */
function longToken(): string {
  tokens += 1;
  return Buffer.from(String(tokens).padStart(TOKEN_LENGTH, '0')).toString('latin1');
}

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** How much a value grows from one place to the next: the median over all pairs of places, which no single jump moves (Theil and Sen). */
function medianGrowth(values: number[]): number {
  const slopes = values.flatMap((value, at) =>
    values.slice(at + 1).map((later, ahead) => (later - value) / (ahead + 1)),
  );
  return slopes.toSorted((a, b) => a - b)[Math.floor(slopes.length / 2)] ?? 0;
}
