// Fairness: the order of the waiters, and one waiter against a node that always wants the lock.

import { countOf, formatDuration } from '../../narration/numbers.ts';
import type { Holder } from '../holder.ts';
import { doesNotApply, Fault, holds } from '../outcome.ts';
import { LEASE_MS, LONG_LEASE_MS, type LockUnderTest } from '../staging.ts';

const WAITERS = 10;
/** The time between two waiters, in milliseconds. */
const APART_MS = 30;
const LIMIT_MS = 10_000;
const CONTENDERS = 3;
const HOLD_MS = 2;
const WARM_UP_MS = 100;
/** The lease, in milliseconds. */
const TURN_LEASE_MS = 2_000;

/** Waiters must enter in order when the holder releases, and when it is killed. */
export async function order(lock: LockUnderTest) {
  const released = await orderAfter(lock, 'released');
  if (released.verdict === 'pass') await orderAfter(lock, 'was killed');
  return released;
}

/** Ten waiters try one after another on two nodes, and one more tries when the holder is gone: checks the order in which they enter. */
const orderAfter = ({ stage, promises }: LockUnderTest, end: 'released' | 'was killed') =>
  stage(async ({ process, story }) => {
    const [p, q] = [process(), process()];
    const mortal = end === 'released' ? p : process();
    const holder = mortal.holder('A', end === 'released' ? LONG_LEASE_MS : LEASE_MS);
    await holder.enters();
    const entered: number[] = [];
    const serve = async (waiter: Holder, place: number) => {
      await waiter.acquire();
      entered.push(place);
      await waiter.release();
    };
    const served: Promise<void>[] = [];
    for (let place = 1; place <= WAITERS; place += 1) {
      served.push(serve((place % 2 === 1 ? p : q).holder(`waiter ${place}`), place));
      await story.pass(APART_MS);
    }
    // Of the process of the holder: what it sends after a release is with Redis before anybody that the release wakes.
    const released = end === 'released' ? holder.release() : mortal.kill();
    served.push(serve(p.holder('a newcomer'), WAITERS + 1));
    await story.endOf(Promise.allSettled([released, ...served]), LIMIT_MS);
    if (entered.length <= WAITERS && promises.fairness === 'order')
      throw new Fault(
        `The holder ${end}, but only ${entered.length} of ${WAITERS + 1} waiters entered within ${formatDuration(LIMIT_MS)}.`,
      );
    const overtaken = entered.reduce(
      (sum, waiter, at) => sum + entered.slice(at + 1).filter((later) => later < waiter).length,
      0,
    );
    const said = `After the holder ${end}, ten waiters on two nodes and one newcomer entered in the order ${entered.join(', ')}: ${countOf(overtaken, 'waiter was', 'waiters were')} overtaken.`;
    if (promises.fairness !== 'order') return doesNotApply(`${said} It does not promise an order.`, { overtaken });
    if (overtaken > 0) throw new Fault(said, { overtaken });
    return holds(said, { overtaken });
  });

/** One waiter against a node that always has a waiter: how long it takes to enter, judged if fairness is promised. */
export const turn = ({ stage, promises }: LockUnderTest) =>
  stage(async ({ process, story }) => {
    const [p, q] = [process(), process()];
    let entries = 0;
    async function contend() {
      for (;;) {
        const rival = p.holder('a rival', TURN_LEASE_MS);
        await rival.acquire();
        entries += 1;
        await story.pass(HOLD_MS);
        await rival.release();
      }
    }
    for (let contender = 0; contender < CONTENDERS; contender += 1) contend().catch(() => {});
    await story.pass(WARM_UP_MS);
    const before = entries;
    const end = await story.endOf(q.holder('B', TURN_LEASE_MS).acquire(), 1.2 * TURN_LEASE_MS);
    const others = entries - before;
    const isInside = end.how === 'done';
    const said = isInside
      ? `A waiter entered after ${formatDuration(end.ms)}`
      : `A waiter had not entered after ${formatDuration(1.2 * TURN_LEASE_MS)}`;
    const figures = { others, ...(isInside && { turnMs: end.ms }) };
    const sentence = `${said}, while the other node, which always wanted the lock, entered ${countOf(others, 'time')}.`;
    if (promises.fairness === undefined) return doesNotApply(`${sentence} It does not promise fairness.`, figures);
    if (!isInside || end.ms > TURN_LEASE_MS) throw new Fault(`${sentence} The lease is ${TURN_LEASE_MS} ms.`, figures);
    return holds(sentence, figures);
  });
