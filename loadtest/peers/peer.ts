// The published locks, each behind an adapter.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { CreateLock } from '../../locks/lock.ts';
import type { Promises } from '../evidence/promises.ts';

/** A published lock, as it is known without its package. */
interface Published {
  /** What package.json of this folder calls its package. */
  package: string;
  /** What npm calls it. */
  onNpm: string;
  /** Which of its locks, where it has several. */
  lock?: string;
  /** It asks several independent Redis servers, which vote. */
  hasMasters: boolean;
}

/** The published locks, by the names of their adapters' files: those of several masters first, and last the one to be caught. */
export const peers: Record<string, Published> = {
  redlock: { package: 'redlock', onNpm: 'redlock', hasMasters: true },
  'redlock-4': { package: 'redlock-4', onNpm: 'redlock', hasMasters: true },
  'sesamecare-redlock': { package: '@sesamecare-oss/redlock', onNpm: '@sesamecare-oss/redlock', hasMasters: true },
  'redlock-universal': { package: 'redlock-universal', onNpm: 'redlock-universal', hasMasters: true },
  'redis-semaphore-redlock': {
    package: 'redis-semaphore',
    onNpm: 'redis-semaphore',
    lock: 'RedlockMutex',
    hasMasters: true,
  },
  'redis-semaphore': { package: 'redis-semaphore', onNpm: 'redis-semaphore', lock: 'Mutex', hasMasters: false },
  'node-redisson': { package: 'node-redisson', onNpm: 'node-redisson', hasMasters: false },
  'simple-redis-mutex': { package: 'simple-redis-mutex', onNpm: 'simple-redis-mutex', hasMasters: false },
  murlock: { package: 'murlock', onNpm: 'murlock', hasMasters: false },
  'node-redis-warlock': { package: 'node-redis-warlock', onNpm: 'node-redis-warlock', hasMasters: false },
  'redis-lock': { package: 'redis-lock', onNpm: 'redis-lock', hasMasters: false },
  'async-mutex': { package: 'async-mutex', onNpm: 'async-mutex', hasMasters: false },
};

export const peerNames = Object.keys(peers);

/** What an adapter exports. */
export interface Peer {
  createLock: CreateLock;
  /** The options that the library is given, in words; the others are as the library sets them. */
  options: Record<string, string>;
  /** What it promises beyond the contract. */
  promises: Promises;
  /** A sentence for each drill that asks for what the library does not promise. */
  doesNotPromise: Record<string, string>;
}

/** The adapter of a published lock. */
export function fileOfPeer(name: string): string {
  return fileURLToPath(new URL(`${name}.ts`, import.meta.url));
}

/** The version of a published lock. */
function versionOfPeer(name: string): string {
  const { dependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
  // An alias names its package before the version.
  return dependencies[publishedAs(name).package].replace(/^npm:.*@/, '');
}

/** What npm calls a published lock, its version, and which of its locks it is: `redis-semaphore 5.8.0, Mutex`. */
export function titleOfPeer(name: string): string {
  const { onNpm, lock } = publishedAs(name);
  return `${onNpm} ${versionOfPeer(name)}${lock === undefined ? '' : `, ${lock}`}`;
}

/** The name of its row: with the version, since a lock of ours may have the same name. */
export function rowOfPeer(name: string): string {
  return `${name}@${versionOfPeer(name)}`;
}

/** Loads an adapter. Rejects when the packages of this folder are not installed: `sh scripts/packages.sh loadtest/peers`. */
export async function loadPeer(name: string): Promise<Peer & { version: string }> {
  const adapter: Peer = await import(new URL(`${name}.ts`, import.meta.url).href);
  return { ...adapter, version: versionOfPeer(name) };
}

function publishedAs(name: string): Published {
  const published = peers[name];
  if (published === undefined) throw new Error(`There is no published lock ${name}.`);
  return published;
}
