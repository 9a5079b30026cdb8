// An abort at every point: acquire() ends soon, and leaves nothing in Redis when it has rejected.

import { setTimeout as sleep } from 'node:timers/promises';
import { NotStagedError } from '../../../evidence/not-staged.ts';
import { type Bed, LONG_LEASE_MS, STEP_LIMIT_MS, type Trial } from '../bed.ts';
import type { LockObject } from '../lock-node.ts';
import { type End, endOf, fails, holds, saidOf } from '../outcome.ts';

/** How soon after its abort acquire() must end, and what it has left in Redis be gone, in milliseconds. */
const SOON_MS = 500;
const GONE_MS = 250;
/** How long a waiter waits before it is aborted, in milliseconds. */
const WAIT_MS = 100;
const REPLY_DELAY_MS = 200;

interface Fault {
  reason: string;
  steps: string[];
}

export async function abort(bed: Bed) {
  const { acquire } = bed.survey;
  const faults = await Promise.all([
    triesOnce(bed),
    beforeIt(bed),
    whileItWaits(bed),
    replyOnItsWay(bed),
    ...acquire.map((_, at) => onItsWay(bed, at, 'free')),
    onItsWay(bed, 0, 'held'),
  ]);
  const fault = faults.find((fault) => fault !== undefined);
  if (fault) return fails(fault.reason, fault.steps);
  return holds(
    'Aborted before it asks, while a command is on its way, and while it waits: it ends soon and leaves nothing.',
  );
}

async function triesOnce(bed: Bed): Promise<Fault | undefined> {
  const trial = bed.trial();
  const a = await trial.holder(0);
  const end = await endOf(a.acquire('once'), STEP_LIMIT_MS);
  if (end.how !== 'done') {
    return faultOf(
      trial,
      `With a signal that is aborted from the start it must try once: of a free lock, acquire() ${saidOf(end)}.`,
    );
  }
  await endOf(a.release(), STEP_LIMIT_MS);
}

async function beforeIt(bed: Bed) {
  const { trial, holder, before, waiter } = await heldLock(bed);
  const end = await endOf(waiter.acquire('once'), SOON_MS);
  trial.say(`B asks with a signal that is aborted already: acquire() ${saidOf(end)}`);
  return judge(trial, { end, before, holder, point: 'before it asked' });
}

async function whileItWaits(bed: Bed) {
  const { trial, holder, before, waiter } = await heldLock(bed);
  const asked = waiter.acquire();
  await endOf(asked, WAIT_MS);
  await waiter.abort();
  const end = await endOf(asked, SOON_MS);
  trial.say(`B waits, and is aborted: acquire() ${saidOf(end)}`);
  return judge(trial, { end, before, holder, point: 'while it waited' });
}

/** The command at this place of acquire() reaches Redis when its asker has been aborted. */
async function onItsWay(bed: Bed, at: number, state: 'free' | 'held') {
  const { trial, holder, before, waiter } = state === 'held' ? await heldLock(bed) : await freeLock(bed);
  const held = waiter.client.hold(at);
  const asked = waiter.acquire();
  if ((await endOf(held.arrived, STEP_LIMIT_MS)).how !== 'done') {
    held.drop();
    // A waiter of a held lock may send something else.
    if (state === 'held') return undefined;
    throw new NotStagedError(`Command ${at + 1} of acquire() did not come.`);
  }
  const { name } = await held.arrived;
  await waiter.abort();
  trial.say(`B asks, and is aborted while its ${name} is on its way`);
  await held.letGo();
  const end = await endOf(asked, SOON_MS);
  trial.say(`the ${name} reaches Redis; acquire() ${saidOf(end)}`);
  return judge(trial, { end, before, holder, waiter, point: `while its ${name} was on its way` });
}

async function replyOnItsWay(bed: Bed) {
  const { trial, holder, before, waiter } = await freeLock(bed);
  const [link] = waiter.client.links;
  link?.delayReplies(REPLY_DELAY_MS);
  const asked = waiter.acquire();
  await sleep(REPLY_DELAY_MS / 4);
  await waiter.abort();
  trial.say('B asks, and is aborted while the reply is on its way');
  const end = await endOf(asked, REPLY_DELAY_MS + SOON_MS);
  link?.delayReplies(0);
  trial.say(`the reply arrives; acquire() ${saidOf(end)}`);
  return judge(trial, { end, before, holder, waiter, point: 'while the reply was on its way' });
}

async function freeLock(bed: Bed) {
  const trial = bed.trial();
  return { trial, holder: undefined, before: await trial.contents(), waiter: await trial.holder(1, LONG_LEASE_MS) };
}

async function heldLock(bed: Bed) {
  const trial = bed.trial();
  const [holder, waiter] = [await trial.holder(0), await trial.holder(1, LONG_LEASE_MS)];
  await trial.enter(holder, 'A');
  return { trial, holder, before: await trial.contents(), waiter };
}

interface Aborted {
  end: End;
  before: Record<string, string>;
  holder: LockObject | undefined;
  /** Who may have entered, since its command was on its way. */
  waiter?: LockObject;
  point: string;
}

/** Either it rejected and left nothing, or its command was quicker: then it holds, and can release. */
async function judge(trial: Trial, { end, before, holder, waiter, point }: Aborted): Promise<Fault | undefined> {
  if (end.how === 'pending') return faultOf(trial, `Aborted ${point}, acquire() had not ended ${SOON_MS} ms later.`);
  if (end.how === 'done') {
    if (waiter === undefined || holder !== undefined)
      return faultOf(trial, `Aborted ${point}, it entered a lock that A holds.`);
    const left = await endOf(waiter.release(), STEP_LIMIT_MS);
    trial.say(`it is inside, and releases: release() ${saidOf(left)}`);
    if (left.how !== 'done')
      return faultOf(trial, `Aborted ${point}, acquire() resolved, and release() ${saidOf(left)}.`);
  }
  const left = await leftOver(trial, before);
  if (left) return faultOf(trial, `Aborted ${point}, it left something in Redis: ${left}.`);
  if (holder) await endOf(holder.release(), STEP_LIMIT_MS);
}

/** What is in Redis that was not there before, a moment later. */
async function leftOver(trial: Trial, before: Record<string, string>): Promise<string | undefined> {
  const deadline = performance.now() + GONE_MS;
  while (true) {
    const now = await trial.contents();
    const changed = Object.keys(now).filter((name) => now[name] !== before[name]);
    if (changed.length === 0) return undefined;
    if (performance.now() > deadline) return changed.map((name) => name.replace(/^\d+ /, '')).join(', ');
    await sleep(10);
  }
}

const faultOf = ({ steps }: Trial, reason: string): Fault => ({ reason, steps });
