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
  /** What else its adapter imports. */
  beside: string[];
  /** It asks several independent Redis servers, which vote. */
  hasMasters: boolean;
}

/** One whose package has the name of the adapter's file, unless more is said. */
function published(name: string, { package: own = name, onNpm = own, beside = [], ...more }: Partial<Published> = {}) {
  return [name, { package: own, onNpm, beside, hasMasters: false, ...more }] as const;
}

/** The published locks, by the names of their adapters' files: those of several masters first, and last the one to be caught. */
export const peers: Record<string, Published> = Object.fromEntries([
  published('redlock', { hasMasters: true }),
  published('redlock-4', { onNpm: 'redlock', hasMasters: true }),
  published('sesamecare-redlock', { package: '@sesamecare-oss/redlock', hasMasters: true }),
  published('redlock-universal', { hasMasters: true }),
  published('redis-semaphore-redlock', { package: 'redis-semaphore', hasMasters: true }),
  published('redis-semaphore'),
  published('node-redisson'),
  published('simple-redis-mutex', { beside: ['redis'] }),
  published('murlock', { beside: ['@nestjs/common', '@nestjs/core'] }),
  published('node-redis-warlock'),
  published('redis-lock', { beside: ['redis-4'] }),
  published('async-mutex'),
]);

export const peerNames = Object.keys(peers);

/** A package as npm names it: its name, and the version or range that is asked for, if any. Undefined for the path of a module. */
export function readLibrary(text: string): { name: string; range?: string } | undefined {
  if (/\.[cm]?[jt]s$/.test(text)) return undefined;
  const [, name, range] = /^((?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*)(?:@(.+))?$/.exec(text) ?? [];
  if (name === undefined) return undefined;
  return { name, ...(range !== undefined && { range }) };
}

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

/** What package.json of this folder says of a package: `5.8.0`, or `npm:redlock@4.2.0`. */
function dependency(name: string): string {
  return JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')).dependencies[name];
}

/** The version of a published lock. */
function versionOfPeer(name: string): string {
  // An alias names its package before the version.
  return dependency(publishedAs(name).package).replace(/^npm:.*@/, '');
}

const majorOf = (version: string) => Number.parseInt(version.replace(/^v/, ''), 10);

/** The adapters for a package that were written for the major version of this one, or for the newest without one. */
export function adaptersOf(onNpm: string, version?: string): string[] {
  const majors = majorsOf(onNpm);
  const major = version === undefined ? Math.max(...majors) : majorOf(version);
  return peerNames.filter((name) => peers[name]?.onNpm === onNpm && majorOf(versionOfPeer(name)) === major);
}

/** The major versions of a package that an adapter was written for. */
export function majorsOf(onNpm: string): number[] {
  const names = peerNames.filter((name) => peers[name]?.onNpm === onNpm);
  return [...new Set(names.map((name) => majorOf(versionOfPeer(name))))].toSorted();
}

/** What the adapters for a package import beside it, as npm installs it: `@nestjs/core@11.2.10`. */
export function besideOf(onNpm: string): string[] {
  const beside = adaptersOf(onNpm).flatMap((name) => publishedAs(name).beside);
  return [...new Set(beside)].map((name) => `${name}@${dependency(name)}`);
}

/** What the packages that an adapter imports are called where they were installed by the name that npm has for them. */
export function installedAs(name: string): Record<string, string> {
  const { package: own, onNpm, beside } = publishedAs(name);
  return Object.fromEntries([[own, onNpm], ...beside.map((each) => [each, each])]);
}

/** The name of its row: with the version, since a lock of ours may have the same name. */
export function rowOfPeer(name: string): string {
  return `${name}@${versionOfPeer(name)}`;
}

/** Loads an adapter. Rejects when the packages of this folder are not installed: `sh stack/packages.sh loadtest/peers`. */
export async function loadPeer(name: string): Promise<Peer & { version: string }> {
  const adapter: Peer = await import(new URL(`${name}.ts`, import.meta.url).href);
  return { ...adapter, version: versionOfPeer(name) };
}

function publishedAs(name: string): Published {
  const found = peers[name];
  if (found === undefined) throw new Error(`There is no published lock ${name}.`);
  return found;
}
