// Seeded interleavings: runs the same few sales again and again, each time in another interleaving.

import { exportsOf, type LockSource } from '../../simulation/lock-service.ts';
import { createLuck } from '../../simulation/luck.ts';
import { readPromises } from '../evidence/promises.ts';
import { type DrillOutcome, lostTrack } from '../harness/drill.ts';
import { countOf } from '../narration/numbers.ts';
import type { Holder } from './holder.ts';
import { Fault, fails, holds, saidOf } from './outcome.ts';
import { LEASE_MS, type Process, type Staging, stageOf } from './staging.ts';

const SEED = 7;
const MOST_ORDERS = 2_000;
/** The longest hold, and the longest delay of a message, in leases: short enough that a holder never loses its lease. */
const HOLD = 0.4;
const LATE = 0.1;
/** The probability that a message is late. */
const OFTEN = 0.3;
/** How many interleavings run in one simulation, each with its own key. In the last one a process may die. */
const IN_ONE_WORLD = 20;
/** By then every waiter must have entered, in leases. */
const LIMIT = 12;

/** Runs interleavings until enough have held, or the time is over. Reports the first that breaks the lock. */
export async function runOrders(
  source: LockSource,
  { seconds, orders = MOST_ORDERS, seed = SEED }: { seconds: number; orders?: number; seed?: number },
): Promise<DrillOutcome> {
  const endsAt = performance.now() + seconds * 1_000;
  let held = 0;
  const isWanted = () => held < orders && performance.now() < endsAt;
  try {
    const promises = readPromises((await exportsOf(source)).promises);
    const subject = { source, promises, scripts: [] };
    const draw = createLuck(seed);
    while (isWanted()) {
      const luck = createLuck(Math.floor(draw() * 2 ** 32));
      await stageOf(subject, async (staging) => {
        const processes: [Process, Process] = [staging.process(), staging.process()];
        for (const each of processes) makeLate(staging, each, luck);
        for (let order = 1; order <= IN_ONE_WORLD && isWanted(); order += 1) {
          staging.story.steps.length = 0;
          await stageOrder(staging, processes, { luck, key: `${staging.key}:${held}`, isLast: order === IN_ONE_WORLD });
          held += 1;
        }
      });
    }
  } catch (error) {
    if (!(error instanceof Fault)) return lostTrack(error);
    const fault = new Fault(`Interleaving ${held + 1} of seed ${seed}: ${error.message}`, { orders: held + 1, seed });
    fault.steps = error.steps;
    return fails(fault);
  }
  return holds(
    `${countOf(held, 'interleaving')}, seed ${seed}: one holder at a time was inside, and every waiter entered.`,
    {
      orders: held,
      seed,
    },
  );
}

/** Four holders in two processes each acquire once. Messages are late, a client disconnects, a process dies. */
async function stageOrder(
  { story }: Staging,
  [p, q]: [Process, Process],
  { luck, key, isLast }: { luck: () => number; key: string; isLast: boolean },
) {
  const inside = new Set<Holder>();
  /** Clients that have gone, and those whose process is dead. */
  const gone = new Set<Holder>();
  const holders = ['A', 'B', 'C', 'D'].map((name, at) => (at % 2 === 0 ? p : q).holder(name, LEASE_MS, key));
  const fault = luck();
  const [from, leaver] = [luck() * 2 * LEASE_MS, holders[Math.floor(luck() * 4)]];

  async function sell(holder: Holder) {
    await story.pass(luck() * LEASE_MS);
    if (gone.has(holder)) return;
    const entered = await story.endOf(holder.acquire(), LIMIT * LEASE_MS);
    if (gone.has(holder)) return entered.how === 'done' ? leave(holder) : undefined;
    if (entered.how === 'pending') throw new Fault(`${holder.name} did not enter within ${LIMIT} leases.`);
    if (entered.how === 'rejected')
      throw new Fault(`The acquire() of ${holder.name} ${saidOf(entered)}, although there was no fault.`);
    story.say(`${holder.name} enters`);
    const [other] = inside;
    if (other) throw new Fault(`${holder.name} entered while ${other.name} was inside.`);
    inside.add(holder);
    await story.pass(luck() * HOLD * LEASE_MS);
    inside.delete(holder);
    if (!gone.has(holder)) await leave(holder);
  }

  async function leave(holder: Holder) {
    story.say(`${holder.name} releases`);
    const left = await story.endOf(holder.release(), LIMIT * LEASE_MS);
    if (left.how === 'rejected' && !gone.has(holder))
      throw new Fault(`The release() of ${holder.name} ${saidOf(left)}, although its lease had not ended.`);
  }

  async function goWrong() {
    await story.pass(from);
    if (!isLast && fault < 0.25 && leaver && !inside.has(leaver)) {
      story.say(`the client of ${leaver.name} disconnects`);
      gone.add(leaver);
      leaver.abort();
    } else if (isLast) {
      story.say('the process of B and D is killed');
      for (const [at, holder] of holders.entries()) if (at % 2 === 1) gone.add(holder);
      for (const holder of gone) inside.delete(holder);
      q.kill();
    }
  }
  await Promise.all([...holders.map(sell), goWrong()]);
}

/** From here on some messages to the servers are late. */
function makeLate({ story }: Staging, { lines }: Process, luck: () => number) {
  for (const line of lines) {
    const next = () =>
      line.hold({
        isMeant: () => luck() < OFTEN,
        arrive(_command, { letGo }) {
          void story.pass(luck() * LATE * LEASE_MS).then(letGo);
          next();
        },
      });
    next();
  }
}
