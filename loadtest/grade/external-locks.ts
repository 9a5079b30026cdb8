// The locks to grade: modules of a user, and published locks.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lockName } from '../../locks/index.ts';
import { factsOfPromises } from '../../services/inventory/sale/external-lock.ts';
import { nameOfExternalLock } from '../../services/inventory/settings/external-module.ts';
import type { LockSource } from '../../simulation/lock-service.ts';
import { projectDir } from '../../stack/parts.ts';
import type { Grade } from '../evidence/results.ts';
import { fileOfPeer, loadPeer, peerNames, rowOfPeer } from '../peers/peer.ts';
import { isExternal } from '../staircase/lookup.ts';
import type { ExternalModule } from '../worlds/real/targets.ts';
import { asRow } from './not-promised.ts';
import { askProcess } from './own-process.ts';

/** The lock in the file `file`, an absolute path. `problem` says why it can't be graded, if it can't. */
export async function readExternalLock(file: string): Promise<Grade> {
  const stage = nameOfExternalLock(file);
  const problem = existsSync(file) ? problemOfName(stage, file) : 'there is no such file';
  if (problem !== undefined) return { stage, file, problem };
  return asRow({ stage, file, ...(await checkModule(file)) });
}

/** Installs the packages of the published locks when they are missing. */
export function providePeers() {
  execFileSync('sh', ['stack/packages.sh', 'loadtest/peers'], { cwd: projectDir, stdio: ['ignore', 'ignore', 2] });
}

/** The published locks, each with the details of its adapter. */
export async function readPeers(): Promise<Grade[]> {
  providePeers();
  return Promise.all(
    peerNames.map(async (name) => {
      const { promises, options, doesNotPromise } = await loadPeer(name);
      return asRow({ stage: rowOfPeer(name), file: fileOfPeer(name), promises, options, doesNotPromise });
    }),
  );
}

/** The modules for the nodes of these locks, by row. */
export function modulesOf(grades: Grade[]): Record<string, ExternalModule> {
  return Object.fromEntries(
    grades.map(({ stage, file, promises }) => [stage, { file, backend: factsOfPromises(promises).backend }]),
  );
}

/** The modules for the simulation of these locks, by row. */
export function sourcesOf(grades: (Grade & Pick<LockSource, 'packages'>)[]): Record<string, LockSource> {
  return Object.fromEntries(
    grades.map(({ stage, file, promises, packages }) => [
      stage,
      { name: stage, file, facts: { ...factsOfPromises(promises), isExternal: true }, packages },
    ]),
  );
}

/** Why a lock in this file could not be graded under this name. */
export function problemOfName(name: string, file: string): string | undefined {
  if (file.includes(',')) return 'its path must not contain a comma';
  if (lockName(name) !== undefined || !isExternal(name))
    return `${name} is the name of a built-in lock: rename the file`;
  if (/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) return undefined;
  return `the file name becomes the name of its row, so it must be in lower case, such as my-lock.ts`;
}

/** What was found in a module: why it can't be graded, or what it says that it promises and does not promise. */
type Found = Pick<Grade, 'problem' | 'promises' | 'doesNotPromise'>;

/** Loads the module in its own process, because it may end that process or block it for ever. */
const checkModule = (file: string): Promise<Found> => askProcess<Found>('loadtest/grade/check-module.ts', [file]);
