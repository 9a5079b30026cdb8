// Reads what the Redis of the shop holds: the stock, and the key of the lock.

import type { LockKey } from './events.ts';

/** Redis counts in whole milliseconds: an end that seems to have moved by less is the same. */
const SAME_END_MS = 1.5;

export interface RedisContent {
  stock: number;
  lock?: LockKey;
}

/** What a server answers to a command. */
type Read = (...command: string[]) => unknown;

/** What a server holds `now` under the key of the stock and that of a lock. */
export function contentOf(
  read: Read,
  { stockKey, lockKey }: { stockKey: string; lockKey: string },
  now: number,
): RedisContent {
  const stock = Number(read('GET', stockKey) ?? 0);
  const kind = read('TYPE', lockKey);
  if (kind === 'none') return { stock };
  const leftMs = Number(read('PTTL', lockKey));
  const [value, count] = kind === 'hash' ? (read('HGETALL', lockKey) as string[]) : [textAt(kind, read, lockKey)];
  return {
    stock,
    lock: {
      value: String(value),
      ...(count !== undefined && { count: Number(count) }),
      ...(leftMs >= 0 && { endsAt: now + leftMs }),
    },
  };
}

const textAt = (kind: unknown, read: Read, key: string) => (kind === 'string' ? read('GET', key) : kind);

export function isSameContent(one: RedisContent | undefined, other: RedisContent): boolean {
  if (one?.stock !== other.stock || one.lock?.value !== other.lock?.value) return false;
  const [ends, otherEnds] = [one.lock?.endsAt ?? 0, other.lock?.endsAt ?? 0];
  return one.lock?.count === other.lock?.count && Math.abs(ends - otherEnds) < SAME_END_MS;
}
