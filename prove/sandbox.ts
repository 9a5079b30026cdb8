// Evaluates a lock's file anew for each process, without a real clock, network or random numbers.

import { existsSync } from 'node:fs';
import { bundle, evaluator, systemModules } from '../simulation/bundle.ts';
import { reasonOf } from '../simulation/places.ts';
import { replacedGlobals } from '../simulation/world/globals.ts';
import { createWorld, type World } from '../simulation/world.ts';
import type { LockModule } from './sale.ts';

/** Evaluates the lock's file, and all that it imports, anew: no two processes share a variable. */
export type OpenLock = (world: World) => LockModule;

const modules = { ...systemModules, ioredis: 'export class Redis {} export class Cluster {} export class Command {}' };
const refusal = (module: string) => `it imports ${module}, which the model checker does not control`;

/** Names that a lock's file finds refused when it uses them; others are replaced. */
const refused = [
  'Date',
  'fetch',
  'process',
  'Worker',
  'WebSocket',
  'MessageChannel',
  'BroadcastChannel',
  'globalThis',
  'global',
];

/**
 * Reads a file that exports `createLock`. Rejects with a clause that says why it can't be proved: there is no such file, it imports
 * what the search does not control, it exports no `createLock`.
 */
export async function readLock(file: string): Promise<OpenLock> {
  if (!existsSync(file)) throw new Error(`there is no file ${file}`);
  const evaluate = evaluator<LockModule>(await bundle({ lock: file }, { modules, refusal }), [
    ...replacedGlobals,
    ...refused,
  ]);
  const openLock = (world: World): LockModule =>
    evaluate({ sleep: world.sleep, every: world.every, uuid: world.uuid, atLine: world.atLine }, [
      ...replacedGlobals.map((name) => world.globals[name]),
      ...refused.map((name) => world.refuse(name)),
    ]);
  const world = createWorld('nobody', 1);
  const createLock: unknown = await Promise.resolve()
    .then(() => openLock(world).createLock)
    .catch((error: unknown) => {
      throw new Error(
        world.refusal() ? `it uses ${world.refusal()}, which the model checker does not control` : reasonOf(error),
      );
    });
  if (typeof createLock !== 'function') throw new Error('it exports no createLock');
  return openLock;
}
