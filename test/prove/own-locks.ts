// Locks for the search: those of the project, and small ones that a test writes.

import { join } from 'node:path';
import { locks } from '../../locks/index.ts';
import type { Cell, Task } from '../../prove/cell.ts';
import { itsKey } from '../../prove/lock-keys.ts';
import { createMoves } from '../../prove/moves/moves.ts';
import { type OpenLock, readLock } from '../../prove/sandbox.ts';
import { type Scope, scopes } from '../../prove/scopes.ts';
import { type Result, type SearchOptions, search } from '../../prove/search.ts';
import { openServer, type Server } from '../../prove/server.ts';
import { projectDir } from '../../stack/parts.ts';
import { writeModule } from '../loadtest/grade/modules.ts';

const opened = new Map<string, Promise<OpenLock>>();
let server: Promise<Server> | undefined;

/** One for all searches of a worker: states of one lock are states of another. */
export function sharedServer(): Promise<Server> {
  server ??= openServer();
  return server;
}

/** The file of a lock of the project, by its name. */
export function fileOf(stage: string): string {
  return join(projectDir, 'locks', Object.hasOwn(locks, stage) ? '' : 'beyond', `${stage}.ts`);
}

/** Writes a lock into a file of its own, which is gone after the tests. `code` is what stands in `createLock`. */
export function writeLock(code: string, imports = ''): string {
  const parameters = '{ redis, masters, key, ownerToken, leaseMs, retryDelayMs }';
  return writeModule('lock.ts', `${imports}\nexport const createLock = (${parameters}) => {\n${code}\n};\n`);
}

export function open(file: string): Promise<OpenLock> {
  const lock = opened.get(file) ?? readLock(file);
  opened.set(file, lock);
  return lock;
}

/** The scope of this name. */
export function scopeNamed(name: string): Scope {
  const found = scopes.find((scope) => scope.name === name);
  if (found === undefined) throw new Error(`There is no scope ${name}.`);
  return found;
}

type Options = Partial<Omit<SearchOptions, 'scope'>>;

export function optionsOf(scope: Scope, options: Options = {}): SearchOptions {
  const { processes = scope.processes ?? 2, horizonMs = scope.horizonMs ?? 4_500 } = options;
  return { sales: 1, masters: 0, mostStates: 1e6, mostMemory: 2e9, ...options, scope, processes, horizonMs };
}

/** Searches under the lock in this file. A scope may be named. */
export async function searchIn(file: string, scope: Scope | string, options: Options = {}): Promise<Result> {
  const meant = typeof scope === 'string' ? scopeNamed(scope) : scope;
  return search(await open(file), await sharedServer(), optionsOf(meant, options));
}

/** The moves under the lock in this file. */
export async function movesUnder(file: string, scope: Scope | string, options: Options = {}) {
  const meant = typeof scope === 'string' ? scopeNamed(scope) : scope;
  const { sales, ...more } = optionsOf(meant, options);
  return createMoves({ openLock: await open(file), sales }, await sharedServer(), { sales, ...more, lock: itsKey });
}

export const task = (stage: string, scope: string, more: Partial<Task> = {}): Task => ({
  stage,
  file: fileOf(stage),
  scope,
  processes: scopeNamed(scope).processes ?? 2,
  sales: 1,
  masters: 0,
  budget: {},
  ...more,
});

/** All that is the same in every run. */
export function lasting({ ms: _, ...cell }: Cell) {
  return cell;
}
