// A correct lock: a release is published, and wakes one waiter of each process.

import type { Redis } from 'ioredis';
import { abortable } from '../../../../../locks/drivers/abortable.ts';
import { startWatchdog, type Watchdog } from '../../../../../locks/drivers/watchdog.ts';
import { type CreateLock, LockNotHeldError, type RedisClient } from '../../../../../locks/lock.ts';

export const promises = { renewal: true };

// Returns 0 when the lock is ours, else how long the lease of its holder lasts, in ms (1 or more).
const takeOrReturnLease = `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
return math.max(redis.call('PTTL', KEYS[1]), 1)`;
const renewIfOwner = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
const releaseAndPublish = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
return 1 + redis.call('PUBLISH', ARGV[2], 'free')`;

/** The waiters of this process for one lock. The first of them tries, when it is woken. */
interface Room {
  waiters: (() => void)[];
  /** True when the lock may have become free since the last try. */
  hasNews: boolean;
  listening: Promise<unknown>;
}

const rooms = new WeakMap<RedisClient, Map<string, Room>>();
const listeners = new WeakMap<RedisClient, Redis>();

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, onLeaseLost }) => {
  const channel = `${key}:free`;
  const lost = new AbortController();
  let askedAt = 0;
  let watchdog: Watchdog | undefined;

  async function tryOnce() {
    askedAt = performance.now();
    return Number(await redis.eval(takeOrReturnLease, 1, key, ownerToken, leaseMs));
  }

  async function acquire(signal?: AbortSignal) {
    let leftMs = await tryOnce();
    if (leftMs > 0) {
      await abortable(undefined, signal);
      const ofClient = rooms.get(redis) ?? new Map<string, Room>();
      rooms.set(redis, ofClient);
      const listener = listenerOf(redis as Redis, (heard) => tellNews(ofClient.get(heard)));
      const room = ofClient.get(channel) ?? { waiters: [], hasNews: true, listening: listener.subscribe(channel) };
      ofClient.set(channel, room);
      let wake = () => {};
      const waiter = () => wake();
      room.waiters.push(waiter);
      try {
        await abortable(room.listening, signal);
        while (leftMs > 0) {
          if (room.waiters[0] === waiter && room.hasNews) {
            room.hasNews = false;
            leftMs = await tryOnce();
          } else await asleep(room, leftMs, (woken) => (wake = woken), signal);
        }
      } finally {
        room.waiters.splice(room.waiters.indexOf(waiter), 1);
        if (room.waiters.length > 0) tellNews(room);
        else {
          ofClient.delete(channel);
          listener.unsubscribe(channel).catch(() => {});
        }
      }
    }
    watchdog = startWatchdog({ leaseMs, askedAt, renew, lose });
  }

  const renew = async () => Number(await redis.eval(renewIfOwner, 1, key, ownerToken, leaseMs));

  function lose() {
    onLeaseLost();
    lost.abort(new LockNotHeldError(key));
  }

  async function release() {
    watchdog?.stop();
    if ((await redis.eval(releaseAndPublish, 1, key, ownerToken, channel)) === 0) throw new LockNotHeldError(key);
  }

  return { acquire, release, lost: lost.signal };
};

function tellNews(room: Room | undefined) {
  if (room === undefined) return;
  room.hasNews = true;
  room.waiters[0]?.();
}

/** Until it is woken. The first waiter is when the lease of the holder is over. */
async function asleep(room: Room, leftMs: number, onWake: (wake: () => void) => void, signal?: AbortSignal) {
  let timer: NodeJS.Timeout | undefined;
  const woken = new Promise<void>((resolve) => {
    onWake(resolve);
    timer = setTimeout(tellNews, leftMs, room);
  });
  await abortable(woken, signal).finally(() => clearTimeout(timer));
}

function listenerOf(redis: Redis, onMessage: (channel: string) => void): Redis {
  const known = listeners.get(redis);
  if (known) return known;
  const listener = redis.duplicate({ enableOfflineQueue: true });
  listener.on('error', () => {});
  listener.on('message', onMessage);
  redis.once('end', () => listener.disconnect());
  listeners.set(redis, listener);
  return listener;
}
