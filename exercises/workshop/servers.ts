// The real servers of a workshop: those for locks, and those for orders, each started when it is first needed.

import type { Exercise } from './exercise.ts';
import { openLockServers } from './lock-servers.ts';
import { openOrderServers } from './order-servers.ts';
import type { RealJudge } from './real-judge.ts';

/** `onDeath` is told with a sentence when a server ends that nobody has ended. */
export function openServers(onDeath: (sentence: string) => void) {
  let locks: RealJudge | undefined;
  let orders: RealJudge | undefined;

  return {
    of({ settings }: Exercise): RealJudge {
      if (settings.judge === 'orders') {
        orders ??= openOrderServers();
        return orders;
      }
      locks ??= openLockServers(onDeath);
      return locks;
    },
    async close() {
      await locks?.close();
      await orders?.close();
    },
  };
}
