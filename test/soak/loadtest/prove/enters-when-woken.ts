// A lock with a hole: who hears of a release enters, without asking whether somebody else was quicker.

import type { Redis } from 'ioredis';
import type { CreateLock } from '../../../../locks/lock.ts';

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs }) => {
  const channel = `${key}:released`;
  const tryOnce = async () => (await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) === 'OK';

  async function acquire() {
    if (await tryOnce()) return;
    const subscriber = (redis as Redis).duplicate();
    const woken = new Promise<void>((resolve) => subscriber.on('message', () => resolve()));
    await subscriber.subscribe(channel);
    if (!(await tryOnce())) await woken;
  }

  async function release() {
    await redis.del(key);
    await redis.publish(channel, 'free');
  }

  return { acquire, release };
};
