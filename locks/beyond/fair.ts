// Beyond · fair
// Problem: the longest-waiting request of one node can be overtaken by the other node again and again.
// Change:  all nodes share one queue in Redis; release hands the lock to the first waiter in it, by name.
// Leaves:  each handover waits for a message to arrive; if the next holder is paused, everyone waits up to a lease.
// Source:  Redisson, fair lock.

import { abortable, abortError } from '../drivers/abortable.ts';
import { listen, processId } from '../drivers/channels.ts';
import { sharedInRequest } from '../drivers/same-request.ts';
import { readScript } from '../drivers/script.ts';
import { startWatchdog, type Watchdog } from '../drivers/watchdog.ts';
import { type CreateLock, LockNotHeldError, type LockOptions } from '../lock.ts';

const acquireInTurn = readScript('acquire-in-turn');
const renewIfEqual = readScript('renew-if-equal');
const releaseToFirst = readScript('release-to-first');

let namesGiven = 0;

/** Every wait gets its own name, so a message about an earlier wait lets nobody in. */
function newName({ redis, leaseMs, ownerToken }: LockOptions, isListening: boolean) {
  namesGiven += 1;
  return `${processId(redis)}:${leaseMs}:${isListening ? 'hears' : 'new'}:${ownerToken}:${namesGiven}`;
}

export const createLock: CreateLock = sharedInRequest((options) => {
  const { redis, key, leaseMs, renewEveryMs, onLeaseLost } = options;
  const keys = [key, `${key}:queue`, `${key}:suspect`];
  const channel = `${key}:${processId(redis)}`;
  const lost = new AbortController();
  let name = '';
  let holdCount = 0;
  let askedAt = 0;
  let watchdog: Watchdog | undefined;

  async function acquire(signal?: AbortSignal) {
    if (holdCount === 0) {
      await (signal?.aborted ? tryOnce(signal) : waitInQueue(signal));
      watchdog = startWatchdog({ leaseMs, renewEveryMs, askedAt, renew, lose });
    }
    holdCount += 1;
  }

  function ask(how: 'join' | 'stay' | 'try') {
    askedAt = performance.now();
    return acquireInTurn(redis, keys, [name, leaseMs, how]);
  }

  async function tryOnce(signal: AbortSignal) {
    name = newName(options, false);
    if ((await ask('try')) !== 0) throw abortError(signal);
  }

  async function waitInQueue(signal?: AbortSignal) {
    let isListening = false;
    let isOurTurn = false;
    let hasNews = false;
    let wake = () => {};
    let askAgain: NodeJS.Timeout | undefined;
    function hear(message?: string) {
      if (message === undefined) isListening = true;
      else if (message === name) isOurTurn = true;
      else return;
      lookAgain();
    }
    function lookAgain() {
      hasNews = true;
      wake();
    }
    const stop = listen(redis, channel, hear);
    try {
      let hasPlace = false;
      while (true) {
        hasNews = false;
        if (!hasPlace) {
          name = newName(options, isListening);
          isOurTurn = false;
        }
        const answer = await ask(hasPlace ? 'stay' : 'join');
        if (answer === 0) return;
        hasPlace = answer > 0;
        if (!hasPlace) continue;
        // Asking again also tells us that the holder has died, and that our lease can't have started before now.
        askAgain = setTimeout(lookAgain, Math.min(answer, leaseMs / 3));
        await abortable(hasNews ? undefined : new Promise<void>((resolve) => (wake = resolve)), signal);
        clearTimeout(askAgain);
        // The lease started after we asked, so enough of it is left, unless this process was paused.
        if (isOurTurn && performance.now() - askedAt < leaseMs / 2) return;
      }
    } catch (error) {
      leave();
      throw error;
    } finally {
      clearTimeout(askAgain);
      stop();
    }
  }

  /** Gives up our lock or our place: now, or once Redis is back or hands us the lock. Nobody enters while the lock is ours. */
  function leave() {
    const ours = name;
    const leaveNow = () => releaseToFirst(redis, keys.slice(0, 2), [ours]);
    leaveNow().catch(() => {
      const again = (message = ours) => message === ours && leaveNow().then(() => stop(), ignore);
      const stop = listen(redis, channel, again);
    });
  }

  const renew = () => renewIfEqual(redis, [key], [name, leaseMs]);

  function lose() {
    holdCount = 0;
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  async function release() {
    holdCount = Math.max(0, holdCount - 1);
    if (holdCount > 0) return;
    // Stop before asking Redis: if Redis does not reply, the lease must expire by itself.
    watchdog?.stop();
    const wasOurs = await releaseToFirst(redis, keys.slice(0, 2), [name]);
    if (wasOurs === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release, lost: lost.signal };
});

function ignore() {}
