// The ceilings that locks are compared with: the critical section in one process, and in two that take turns.

import { listen } from '../../locks/drivers/channels.ts';
import type { CreateLock, RedisClient } from '../../locks/lock.ts';

let last: Promise<void> = Promise.resolve();

/**
 * One queue in this process, first come first served, and no lock. With all waiters in one process this is the most that a lock of one
 * process can reach that lets one section in at a time. A waiter can't be cancelled: it leaves when its turn has come.
 */
export const serialCeiling: CreateLock = () => {
  let leave = () => {};

  return {
    acquire() {
      const before = last;
      last = new Promise((resolve) => {
        leave = resolve;
      });
      return before;
    },
    async release() {
      leave();
    },
  };
};

/** How many sections a process runs before it hands over: as many as the holders of a tenure of `cohort`. */
const BLOCK = 512;

const sides = new WeakMap<RedisClient, ReturnType<typeof openSide>>();

/**
 * Two processes take turns in blocks, and no lock is between them: the one whose turn it is runs its waiters one after the other,
 * first come, first served, then publishes that it is the other's turn, and waits for no answer. It is the most that a lock over
 * two processes can reach that lets one section in at a time. A waiter can't be cancelled: it leaves when its turn has come.
 */
export const handoverCeiling: CreateLock = ({ redis, key }) => {
  const side = sides.get(redis) ?? openSide(redis, key);
  sides.set(redis, side);
  return {
    acquire: () => new Promise((resolve) => side.join(resolve)),
    async release() {
      side.leave();
    },
  };
};

/** What one process does. */
function openSide(redis: RedisClient, key: string) {
  const waiters: (() => void)[] = [];
  /** How many sections are left of the block; 0 while it is the turn of the other process. */
  let left = 0;
  let isInside = false;
  let place = 0;
  const turnOf = (other: number) => `${key}:turn:${other}`;

  void open();

  async function open() {
    place = await redis.incr(`${key}:processes`);
    // Called without a message, too, when the subscription stands: that gives nobody the turn.
    listen(redis, turnOf(place), (message) => message !== undefined && takeTurn());
    if (place === 1) takeTurn();
  }

  function takeTurn() {
    left = BLOCK;
    letNextIn();
  }

  function letNextIn() {
    if (left === 0 || isInside || waiters.length === 0) return;
    isInside = true;
    waiters.shift()?.();
  }

  async function handOver() {
    const hasHeard = await redis.publish(turnOf(3 - place), 'your turn');
    // The other process does not listen yet.
    if (hasHeard === 0) takeTurn();
  }

  return {
    join(enter: () => void) {
      waiters.push(enter);
      letNextIn();
    },
    leave() {
      isInside = false;
      left -= 1;
      if (left === 0) void handOver();
      else letNextIn();
    },
  };
}
