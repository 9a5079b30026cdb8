// The published locks, each behind an adapter.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import type { CreateLock, RedisClient } from '../../locks/lock.ts';

/** The published locks, by the name of their package, which is the name of their adapter's file. */
export const peerNames = ['redlock', 'redis-semaphore', 'node-redisson', 'simple-redis-mutex', 'async-mutex'];

/** What an adapter exports. */
export interface Peer {
  createLock: CreateLock;
  /** The options that the library is given, in words; the others are as the library sets them. */
  options: Record<string, string>;
  /** A sentence for each drill that asks for what the library does not promise. */
  doesNotPromise: Record<string, string>;
}

/** The server that a library is given. Throws when it is a Cluster. */
export function oneServer(redis: RedisClient): Redis {
  if (redis instanceof Redis) return redis;
  throw new Error('The peers are run on one Redis server, not on a Cluster.');
}

/** The adapter of a published lock. */
export function fileOfPeer(name: string): string {
  return fileURLToPath(new URL(`${name}.ts`, import.meta.url));
}

/** Loads an adapter. Rejects when the packages of this folder are not installed: `sh scripts/packages.sh loadtest/peers`. */
export async function loadPeer(name: string): Promise<Peer & { version: string }> {
  const pinned = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
  const adapter: Peer = await import(new URL(`${name}.ts`, import.meta.url).href);
  return { ...adapter, version: pinned.dependencies[name] };
}
