// Beyond · fair
// Problem: who waits longest on one node may be overtaken by the other node, again and again.
// Change:  one queue in Redis for all nodes; a release tells the first in it, and only the first may enter.
// Leaves:  each acquisition waits for a message to travel, and for the first waiter up to a lease if it has died.
// Source:  Redisson, fair lock.

import { abortable } from '../drivers/abortable.ts';
import { listen } from '../drivers/channels.ts';
import { readScript } from '../drivers/script.ts';
import { startWatchdog, type Watchdog } from '../drivers/watchdog.ts';
import { type CreateLock, LockNotHeldError } from '../lock.ts';

const acquireInTurn = readScript('acquire-in-turn');
const renewIfOwner = readScript('renew-if-owner');
const releaseToFirst = readScript('release-to-first');
const leaveQueue = readScript('leave-queue');

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, onLeaseLost }) => {
  const keys = [key, `${key}:queue`, `${key}:alive`];
  const channel = `${key}:released`;
  const lost = new AbortController();
  let holdCount = 0;
  let askedAt = 0;
  let watchdog: Watchdog | undefined;

  async function acquire(signal?: AbortSignal) {
    // Neither a holder nor a single try joins the queue.
    const isOurs = (holdCount > 0 || signal?.aborted) && (await ask('try')) > 0;
    if (!isOurs) {
      await abortable(undefined, signal);
      await waitInQueue(signal);
    }
    holdCount += 1;
    if (holdCount === 1) watchdog = startWatchdog({ leaseMs, askedAt, renew, lose });
  }

  function ask(how: 'wait' | 'try') {
    askedAt = performance.now();
    return acquireInTurn(redis, keys, [ownerToken, leaseMs, how === 'wait' ? 1 : 0]);
  }

  async function waitInQueue(signal?: AbortSignal) {
    let hasNews = false;
    let wake = () => {};
    let askAgain: NodeJS.Timeout | undefined;
    function lookAgain() {
      hasNews = true;
      wake();
    }
    const stop = listen(redis, channel, (first = ownerToken) => first === ownerToken && lookAgain());
    try {
      while (true) {
        hasNews = false;
        const answer = await ask('wait');
        if (answer > 0) return;
        // To ask again is also the sign that we are alive: without it we would lose our place when a lease has passed.
        askAgain = setTimeout(lookAgain, Math.min(-answer, leaseMs / 3));
        await abortable(hasNews ? undefined : new Promise<void>((resolve) => (wake = resolve)), signal);
        clearTimeout(askAgain);
      }
    } catch (error) {
      leave();
      throw error;
    } finally {
      clearTimeout(askAgain);
      stop();
    }
  }

  /** Leaves the queue: now, or if Redis is away as soon as it is back. Nobody enters while the first in it is gone. */
  function leave() {
    const leaveNow = () => leaveQueue(redis, keys, [ownerToken, channel]);
    leaveNow().catch(() => {
      const tryAgain = () => leaveNow().then(() => stop(), ignore);
      // Not at every message: to leave sends one, so many who leave would wake each other without end.
      const stop = listen(redis, channel, (message) => message === undefined && tryAgain());
    });
  }

  const renew = () => renewIfOwner(redis, [key], [ownerToken, leaseMs]);

  function lose() {
    holdCount = 0;
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  async function release() {
    holdCount = Math.max(0, holdCount - 1);
    // Before asking Redis: if it does not answer, the lease must end by itself.
    if (holdCount === 0) watchdog?.stop();
    const held = await releaseToFirst(redis, keys.slice(0, 2), [ownerToken, leaseMs, channel]);
    if (held === -1) throw new LockNotHeldError(key);
  }

  return { acquire, release, lost: lost.signal };
};

function ignore() {}
