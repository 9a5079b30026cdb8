// The locks that are graded: modules of a user, and published locks.

import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockName } from '../../locks/index.ts';
import { factsOfPromises } from '../../services/inventory/sale/external-lock.ts';
import { nameOfExternalLock } from '../../services/inventory/settings/external-module.ts';
import type { LockSource } from '../../simulation/lock-service.ts';
import { hostArgs } from '../../stack/bundle.ts';
import { projectDir } from '../../stack/parts.ts';
import type { Grade } from '../evidence/results.ts';
import { fileOfPeer, loadPeer, peerNames, rowOfPeer } from '../peers/peer.ts';
import { isExternal } from '../staircase/lookup.ts';
import type { ExternalModule } from '../worlds/real/targets.ts';
import { asRow } from './not-promised.ts';

/** How long a module may take to be loaded once the process that does it is there, in milliseconds. */
const LOAD_LIMIT_MS = 30_000;
/** How long that process may take to be there, in milliseconds. */
const START_LIMIT_MS = 30_000;

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

/** The published locks, each with what its adapter tells of it. */
export async function readPeers(): Promise<Grade[]> {
  providePeers();
  return Promise.all(
    peerNames.map(async (name) => {
      const { promises, options, doesNotPromise } = await loadPeer(name);
      return asRow({ stage: rowOfPeer(name), file: fileOfPeer(name), promises, options, doesNotPromise });
    }),
  );
}

/** What the nodes of these locks are given, by their rows. */
export function modulesOf(grades: Grade[]): Record<string, ExternalModule> {
  return Object.fromEntries(
    grades.map(({ stage, file, promises }) => [stage, { file, backend: factsOfPromises(promises).backend }]),
  );
}

/** Where the virtual world finds these locks, by their rows. */
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
  if (file.includes(',')) return 'its path must not have a comma in it';
  if (lockName(name) !== undefined || !isExternal(name))
    return `${name} is the name of a lock of ours: give the file another name`;
  if (/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) return undefined;
  return `the name of its file becomes that of its row, so it must be in small letters, as in my-lock.ts`;
}

/** What was found of a module: why it can't be graded, or what it promises and does not promise, if it says so. */
type Found = Pick<Grade, 'problem' | 'promises' | 'doesNotPromise'>;

/** Loads the module in a process of its own, which it may end, or keep busy for ever. */
async function checkModule(file: string): Promise<Found> {
  const [script = '', ...execArgv] = (await hostArgs('loadtest/grade/check-module.ts')).toReversed();
  const child = fork(script, [file], { execArgv: execArgv.toReversed(), stdio: 'ignore', cwd: projectDir });
  // It sends when it begins, and then what is wrong. Both may come at once, and with its end: nothing listens too late.
  const begun = once(child, 'message');
  const found = new Promise<Found>((resolve) => {
    child.once('message', () => child.once('message', (message) => resolve(message as Found)));
  });
  const ended = Promise.all([once(child, 'exit'), once(child, 'disconnect')]).then(
    ([[code, signal]]): Found => ({ problem: endOf(code ?? signal) }),
  );
  const limit = (ms: number, found: Found) => sleep(ms, found, { ref: false });
  const problem = `it was not loaded within ${LOAD_LIMIT_MS / 1000} s: its import never ends`;

  await Promise.race([begun, ended, limit(START_LIMIT_MS, {})]);
  const result = await Promise.race([found, ended, limit(LOAD_LIMIT_MS, { problem })]);
  child.kill('SIGKILL');
  return result;
}

/** Node ends with 13 when nothing is left that could let a top-level await go on. */
function endOf(how: number | string | null) {
  if (how === 13) return 'its import never ends: it awaits what never comes';
  return `it ends the process that loads it (${how})`;
}
