// A lock whose waiters do not poll Redis: they sleep until a message says that the lock was released.

import { abortable } from '../../../locks/drivers/abortable.ts';
import { listen } from '../../../locks/drivers/channels.ts';
import { type CreateLock, LockNotHeldError } from '../../../locks/lock.ts';

const releaseAndPublish = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PUBLISH', ARGV[2], 'released')
return redis.call('DEL', KEYS[1])`;

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs }) => {
  const channel = `${key}:released`;

  async function tryOnce() {
    return (await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) === 'OK';
  }

  async function acquire(signal?: AbortSignal) {
    if (await tryOnce()) return;
    let hasNews = false;
    let wake = () => {};
    function notice() {
      hasNews = true;
      wake();
    }
    // It also calls once it is subscribed. A release before that was missed, so try the lock once more.
    const stop = listen(redis, channel, notice);
    try {
      do {
        // The lease of a crashed holder has ended by then.
        const leaseEnd = setTimeout(notice, leaseMs);
        const news = hasNews ? undefined : new Promise<void>((resolve) => (wake = resolve));
        await abortable(news, signal).finally(() => clearTimeout(leaseEnd));
        hasNews = false;
      } while (!(await tryOnce()));
    } finally {
      stop();
    }
  }

  async function release() {
    const released = await redis.eval(releaseAndPublish, 1, key, ownerToken, channel);
    if (released === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release };
};
