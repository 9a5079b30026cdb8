// Delays replies for longer than the lock waits: a late reply must let nobody in, and leave nothing behind.

import type { ReadCommand } from '../../../simulation/proxy.ts';
import { NotStagedError } from '../../evidence/not-staged.ts';
import { formatDuration } from '../../narration/numbers.ts';
import { isNoStep } from '../held.ts';
import { Fault, holds, STEP_LIMIT_MS } from '../outcome.ts';
import { LONG_LEASE_MS, type LockUnderTest, type Staging } from '../staging.ts';
import { judge, LIMIT_MS, NOT_FREE } from './failures.ts';

/** How late the replies to a single try are, in milliseconds. */
const LATE_MS = 1_000;
/** By when a lock that has sent nothing more counts as one that waits for a reply without a limit, in milliseconds. */
const PATIENCE_LIMIT_MS = 1_000;
/** How long the commands of one try take at most, in milliseconds. */
const MOMENT_MS = 1;
/** When the lock becomes free, and how long replies are late from then on, in parts of the time to the second try. */
const FREE = [0.4, 1.3];
const SLOW = [0.5, 1.5, 4];
const TWO_INSIDE = 'Replies were late: B entered while A was inside.';

export async function lateReply({ stage }: LockUnderTest) {
  await stage(triesOnce);
  const tries = await stage(triesOf);
  if (tries === undefined)
    return holds(
      `It waits for a reply for ${formatDuration(PATIENCE_LIMIT_MS)} and more. A single try whose replies were ${formatDuration(LATE_MS)} late left nothing behind.`,
    );
  const { patienceMs, againMs } = tries;
  // One is later than the patience alone, one comes while the second try is under way.
  for (const lateMs of [1.1 * patienceMs, againMs + patienceMs / 2])
    for (const free of FREE)
      for (const slow of SLOW)
        for (const goes of [false, true])
          await stage((staging) =>
            hearsLate(staging, { lateMs, freeMs: free * againMs, slowMs: slow * againMs, goes }),
          );
  return holds(
    `It waits ${formatDuration(patienceMs)} for a reply. A later reply let nobody in and left nothing behind.`,
  );
}

/** The replies of most servers are late. A single try must either wait for them, or give back what it does not wait for. */
async function triesOnce({ two, story }: Staging) {
  const { p, a, b } = two();
  // By then it is connected.
  await a.enters();
  await a.leaves();
  for (const line of p.lines.slice(0, Math.ceil((p.lines.length + 1) / 2))) line.delayReplies(LATE_MS);
  const end = await story.ends(
    `replies are ${formatDuration(LATE_MS)} late; acquire() of A`,
    a.acquire('once'),
    LONG_LEASE_MS,
  );
  if (end.how === 'pending') throw new Fault('Replies were late, and a single try did not end.');
  if (end.how === 'done') await a.leaves();
  await b.mustEnter(`Replies to a single try were late${NOT_FREE}`, LIMIT_MS);
}

/** A is inside, and B tries over a connection that is slow from its first command on: an earlier subscription is in time. */
async function askLate({ two, story }: Staging, lateMs: number) {
  const { p, q, a, b } = two();
  // By then it is connected.
  await b.enters();
  await b.leaves();
  await a.enters();
  const asks = new Promise<void>((resolve) => {
    const forgets = q.lines.map((line) =>
      line.watch((command) => {
        if (isNoStep(command)) return;
        for (const forget of forgets) forget();
        q.delayReplies(lateMs);
        resolve();
      }),
    );
  });
  const asked = b.acquire();
  if ((await story.endOf(asks, STEP_LIMIT_MS)).how !== 'done') throw new NotStagedError('B sent no command.');
  story.say(`B tries, and each reply to it is ${formatDuration(lateMs)} late`);
  return { a, b, c: p.holder('C'), q, from: story.now(), asked };
}

/**
 * How long it waits for a reply, and when it asks again, in milliseconds from its first command on. Resolves with undefined when it sends
 * nothing more within the limit.
 */
async function triesOf(staging: Staging): Promise<{ patienceMs: number; againMs: number } | undefined> {
  const { q, from, asked } = await askLate(staging, LONG_LEASE_MS);
  const end = await staging.story.endOf(asked, PATIENCE_LIMIT_MS);
  if (end.how === 'done') throw new Fault(TWO_INSIDE);
  const [first, ...others] = q.seen.filter(({ at }) => at >= from);
  const later = others.filter(({ at }) => at > from + MOMENT_MS);
  const again = later.find(({ command }) => first && kindOf(command) === kindOf(first.command)) ?? later[0];
  if (later[0] && again) return { patienceMs: later[0].at - from, againMs: again.at - from };
  return end.how === 'rejected' ? { patienceMs: end.ms, againMs: end.ms } : undefined;
}

/** A script is identified by its text or its hash. */
const kindOf = ({ name, args }: ReadCommand) => (/^(EVAL|FCALL)/.test(name) ? args[0] : name);

interface Late {
  lateMs: number;
  freeMs: number;
  slowMs: number;
  /** Its client goes, or else its replies are in time again. */
  goes: boolean;
}

/** Every reply is later than the lock waits, and the lock becomes free between two tries. */
async function hearsLate(staging: Staging, { lateMs, freeMs, slowMs, goes }: Late) {
  const { story } = staging;
  const { a, b, c, q, asked } = await askLate(staging, lateMs);
  const what = `Replies were ${formatDuration(lateMs)} late, and the lock became free meanwhile`;
  if ((await story.endOf(asked, freeMs)).how === 'done') throw new Fault(TWO_INSIDE);
  await a.leaves();
  await story.pass(slowMs);
  story.say(goes ? 'the client of B disconnects' : 'the replies are on time again');
  if (goes) b.abort();
  else q.delayReplies(0);
  const end = await story.ends('acquire() of B', asked, LIMIT_MS);
  q.delayReplies(0);
  if (end.how === 'done' || !goes) return judge(end, b, c, what);
  if (end.how === 'pending')
    throw new NotStagedError('The client disconnected, and acquire() did not end: contract-abort judges that.');
  // A client that has gone releases nothing.
  await c.mustEnter(`${what}${NOT_FREE}`, LIMIT_MS);
}
