// Aborts at every point: acquire() must end soon, and when it rejects it must leave nothing in Redis.

import { NotStagedError } from '../../evidence/not-staged.ts';
import type { Holder } from '../holder.ts';
import { type End, Fault, holds, STEP_LIMIT_MS } from '../outcome.ts';
import type { Keys } from '../servers.ts';
import { LEASE_MS, type LockUnderTest, type Process, type Staging } from '../staging.ts';

/** How soon after its abort acquire() must end and clean up in Redis, in milliseconds. */
const SOON_MS = 500;
const GONE_MS = 250;
/** How long a waiter waits before it is aborted, in milliseconds. */
const WAIT_MS = 100;
const REPLY_DELAY_MS = 200;
const WAITERS = 200;
/** How long many waiters may take to clean up, in milliseconds. */
const CLEAR_UP_MS = 100;

export async function abort({ survey, stage }: LockUnderTest) {
  await stage(triesOnce);
  await stage(beforeIt);
  await stage((staging) => aborted(staging, 'held', WAIT_MS, 'while it waited'));
  await stage((staging) => aborted(staging, 'free', REPLY_DELAY_MS / 4, 'while the reply was on the way'));
  for (const place of survey.acquire.keys()) await stage((staging) => onItsWay(staging, place, 'free'));
  await stage((staging) => onItsWay(staging, 0, 'held'));
  return holds(
    'Aborted before its first command, while a command is on the way, and while it waits, acquire() ends soon and leaves nothing.',
  );
}

async function triesOnce({ process }: Staging) {
  const a = process().holder('A');
  await a.mustEnter('With a signal that is already aborted and a free lock,', STEP_LIMIT_MS, a.acquire('once'));
}

async function beforeIt(staging: Staging) {
  const scene = await openScene(staging, 'held');
  const end = await staging.story.ends(
    'B tries with a signal that is already aborted: acquire()',
    scene.waiter.acquire('once'),
    SOON_MS,
  );
  await judge(staging, scene, end, 'before its first command');
}

/** Delays the replies, and aborts so many milliseconds after the call. */
async function aborted(staging: Staging, state: 'free' | 'held', afterMs: number, point: string) {
  const scene = await openScene(staging, state);
  const delayMs = state === 'free' ? REPLY_DELAY_MS : 0;
  scene.q.delayReplies(delayMs);
  const asked = scene.waiter.acquire();
  await staging.story.pass(afterMs);
  scene.waiter.abort();
  const end = await staging.story.ends(`B tries, and is aborted ${point}: acquire()`, asked, delayMs + SOON_MS);
  scene.q.delayReplies(0);
  await judge(staging, scene, end, point);
}

/** The command at this place of acquire() reaches Redis after the abort. */
async function onItsWay(staging: Staging, at: number, state: 'free' | 'held') {
  const scene = await openScene(staging, state);
  const held = scene.q.hold(at);
  const asked = scene.waiter.acquire();
  const command = await held.comes();
  if (command === undefined) {
    // A waiter of a held lock may send something else.
    if (state === 'held') return;
    throw new NotStagedError(`Command ${at + 1} of acquire() was not sent.`);
  }
  scene.waiter.abort();
  staging.story.say(`B tries, and is aborted while its ${command.name} is on the way`);
  await staging.story.pass(1);
  held.letGo();
  const end = await staging.story.ends(`the ${command.name} reaches Redis; acquire()`, asked, SOON_MS);
  await judge(staging, scene, end, `while its ${command.name} was on the way`);
}

interface Scene {
  q: Process;
  /** Who has the lock, if anybody. */
  holder: Holder | undefined;
  waiter: Holder;
  /** What Redis had when the waiter came. */
  before: Keys;
  /** What stays of a holder that has come and gone as it should, such as the number of the last token. */
  usual: Keys;
}

async function openScene(staging: Staging, state: 'free' | 'held'): Promise<Scene> {
  const { q, a, b: waiter } = staging.two();
  await a.enters();
  await a.leaves();
  const usual = staging.servers.contents();
  if (state === 'held') await a.enters();
  return { q, holder: state === 'held' ? a : undefined, waiter, before: staging.servers.contents(), usual };
}

/** Either it rejected and left nothing, or its command was faster: then it holds the lock, and can release it. */
async function judge(staging: Staging, { holder, waiter, before, usual }: Scene, end: End, point: string) {
  if (end.how === 'pending') throw new Fault(`Aborted ${point}, acquire() had not ended ${SOON_MS} ms later.`);
  if (end.how === 'done') {
    if (holder !== undefined) throw new Fault(`Aborted ${point}, it acquired a lock that A holds.`);
    await waiter.mustLeave(`Aborted ${point}, acquire() resolved, and`);
  }
  await staging.story.pass(GONE_MS);
  const now = staging.servers.contents();
  const changed = Object.keys(now).filter((name) => now[name] !== before[name] && usual[name] === undefined);
  if (changed.length === 0) return;
  const names = changed.map((name) => name.replace(/^\d+ /, '')).join(', ');
  throw new Fault(`Aborted ${point}, it left keys in Redis: ${names}.`);
}

/** Aborts many waiters at once: all of them must end, and a moment later none may send anything. */
export const abortMany = ({ stage }: LockUnderTest) =>
  stage(async ({ process, story }) => {
    const [p, q] = [process(), process()];
    await p.holder('A').enters();
    const waiters = Array.from({ length: WAITERS }, (_, at) => q.holder(`waiter ${at + 1}`, LEASE_MS));
    const asked = waiters.map((waiter) => waiter.acquire());
    await story.pass(WAIT_MS);
    for (const waiter of waiters) waiter.abort();
    story.say(`${WAITERS} waiters are aborted`);
    const ends = await Promise.all(asked.map((each) => story.endOf(each, 2 * SOON_MS)));
    const pending = ends.filter(({ how }) => how !== 'rejected').length;
    if (pending > 0)
      throw new Fault(
        `The acquire() of ${pending} of ${WAITERS} waiters had not ended ${2 * SOON_MS} ms after the abort.`,
      );
    await story.pass(CLEAR_UP_MS);
    const from = story.now();
    await story.pass(LEASE_MS);
    const [first, ...others] = q.sentSince(from);
    if (first === undefined)
      return holds(`${WAITERS} waiters were aborted, and none of them sent a command afterwards.`);
    const count = `${others.length + 1} commands named the key within the next lease`;
    throw new Fault(
      `${CLEAR_UP_MS} ms after ${WAITERS} waiters were aborted, ${count}: the first was ${first.command.name}.`,
    );
  });
