// Seeded orders: the same few sales again and again, in another order of events each time.

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
/** No hold is longer than this part of its lease, and no message later than that one: a holder is always inside by right. */
const HOLD = 0.4;
const LATE = 0.1;
/** How often a message is late. */
const OFTEN = 0.3;
/** So many orders follow one another in one world, each with a key of its own. In the last one a process may die. */
const IN_ONE_WORLD = 20;
/** By then everybody who waits has been inside, in leases. */
const LIMIT = 12;

/** Stages orders until as many have held as are wanted, or the time is over. The first that breaks the lock is told. */
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
    const fault = new Fault(`Order ${held + 1} of seed ${seed}: ${error.message}`, { orders: held + 1, seed });
    fault.steps = error.steps;
    return fails(fault);
  }
  return holds(`${countOf(held, 'order')}, seed ${seed}: one at a time was inside, and everybody came in.`, {
    orders: held,
    seed,
  });
}

/** Four ask in two processes, each for one hold. Messages are late, a client goes, a process dies. */
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
    if (entered.how === 'pending') throw new Fault(`${holder.name} waited for ${LIMIT} leases, and was not inside.`);
    if (entered.how === 'rejected')
      throw new Fault(`The acquire() of ${holder.name} ${saidOf(entered)}, and nothing was broken.`);
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
      throw new Fault(`The release() of ${holder.name} ${saidOf(left)}, and its lease was not over.`);
  }

  async function goWrong() {
    await story.pass(from);
    if (!isLast && fault < 0.25 && leaver && !inside.has(leaver)) {
      story.say(`the client of ${leaver.name} goes`);
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

/** From here on some messages to the servers come late. */
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
