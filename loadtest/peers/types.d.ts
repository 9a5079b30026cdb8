// Types for packages that have none, or do not export them: only what the adapters use.

declare module 'redlock' {
  import type { Redis } from 'ioredis';

  interface Settings {
    retryCount: number;
    automaticExtensionThreshold: number;
  }

  export default class Redlock {
    constructor(clients: Redis[], settings?: Partial<Settings>);
    using<T>(
      resources: string[],
      durationMs: number,
      settings: Partial<Settings>,
      routine: (lost: AbortSignal) => Promise<T>,
    ): Promise<T>;
  }
}

declare module 'redlock-4' {
  import type { Redis } from 'ioredis';

  class Redlock {
    constructor(clients: Redis[], options?: { retryCount?: number });
    lock(resource: string, ttlMs: number): Promise<Redlock.Lock>;
    static LockError: new () => Error;
  }
  namespace Redlock {
    interface Lock {
      unlock(): Promise<void>;
    }
  }
  export default Redlock;
}

declare module 'node-redis-warlock' {
  import type { Redis } from 'ioredis';

  type Callback<T> = (error: Error | null, result: T) => void;

  /** Calls back with 1 when the lock was still held, else with 0. */
  export type Unlock = (callback: Callback<number>) => void;

  export interface Warlock {
    lock(key: string, ttlMs: number, callback: Callback<Unlock | false>): void;
    optimistic(key: string, ttlMs: number, maxAttempts: number, waitMs: number, callback: Callback<Unlock>): void;
  }

  export default function createWarlock(redis: Redis): Warlock;
}

declare module 'redis-lock' {
  export type Done = () => Promise<unknown>;
  export type Lock = (name: string, timeoutMs: number) => Promise<Done>;

  export default function redisLock(client: object, retryDelayMs?: number): Lock;
}
