// Published libraries: npm installs a package beside the lab, and it runs unchanged in the simulation.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportsOf, type LockSource } from '../../simulation/lock-service.ts';
import { cacheDir } from '../../stack/parts.ts';
import type { Grade } from '../evidence/results.ts';
import { adaptersOf, besideOf, fileOfPeer, installedAs, majorsOf, type Peer, readLibrary } from '../peers/peer.ts';
import { asRow } from './not-promised.ts';
import { proposeAdapter } from './propose.ts';

export type Library = Grade & Pick<LockSource, 'packages'>;

/** Each package is installed in a folder of its own, in here. */
const LIBRARIES = join(cacheDir, 'libraries');
const FAR = /^(E(NOTFOUND|AI_AGAIN|CONN\w+|TIMEDOUT|HOSTUNREACH|NETUNREACH)|ERR_SOCKET_TIMEOUT|FETCH_ERROR)$/;

/** Where packages are installed, and where a missing adapter is written. */
export interface Places {
  libraries?: string;
  caller: string;
}

/**
 * The locks of a package, one for each adapter, or this one of them alone. Installs it when it is not there. `problem` says why it can't
 * be graded; `proposal` what came of it that no adapter is shipped.
 */
export async function readPublished(
  text: string,
  { libraries = LIBRARIES, caller }: Places,
  lock?: string,
): Promise<(Library & { proposal?: string })[]> {
  const { name = text, range } = readLibrary(text) ?? {};
  const own = join(libraries, text.replace('/', '+'));
  const isShipped = adaptersOf(name).length > 0;
  const isBeside = !isShipped && existsSync(join(caller, 'node_modules', name, 'package.json'));
  const folder = isBeside ? caller : own;
  const failed = (problem: string) => [{ stage: text, file: text, problem }];
  const problem = isBeside ? undefined : install(folder, name, range);
  if (problem !== undefined) return failed(problem);
  const grades = isShipped ? await gradesIn(folder, name, lock) : [];
  if (grades.length > 0) return grades;
  const majors = majorsOf(name).join(' or ');
  const why = isShipped ? `the shipped adapter is for version ${majors}` : 'no adapter is shipped for it';
  const { says } = await proposeAdapter(name, folder, caller, lock);
  return failed(why).map((grade) => ({ ...grade, proposal: says }));
}

/** The locks of a package that is installed in a folder, or this one of them alone. */
export async function gradesIn(folder: string, onNpm: string, lock?: string): Promise<Library[]> {
  const { version } = JSON.parse(readFileSync(join(folder, 'node_modules', onNpm, 'package.json'), 'utf8'));
  const adapters = adaptersOf(onNpm, version);
  const chosen = adapters.filter((adapter) => lock === undefined || adapter === lock);
  if (adapters.length > 0 && chosen.length === 0) {
    return [{ stage: onNpm, file: onNpm, problem: `it has no lock ${lock}: --lock must be ${adapters.join(' or ')}` }];
  }
  return Promise.all(chosen.map((adapter) => gradeOf(adapter, version, folder)));
}

async function gradeOf(adapter: string, version: string, folder: string): Promise<Library> {
  const stage = `${adapter}@${version.replace(/^v/, '')}`;
  const packages = { folder, names: installedAs(adapter) };
  const file = fileOfPeer(adapter);
  try {
    const source = { name: stage, file, facts: { backend: 'redis', isExternal: true }, packages } as const;
    const { promises, options, doesNotPromise } = (await exportsOf(source)) as unknown as Peer;
    return asRow({ stage, file, packages, promises, options, doesNotPromise });
  } catch (error) {
    return { stage, file, problem: (error as Error).message };
  }
}

/** Installs a package in a folder of its own, unless it is there. Returns why it can't, as a clause. */
function install(folder: string, name: string, range: string | undefined): string | undefined {
  // npm writes it when all is there.
  if (existsSync(join(folder, 'node_modules/.package-lock.json'))) return undefined;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const asked = range === undefined ? name : `${name}@${range}`;
  process.stderr.write(`Installing ${asked} (once) ...\n`);
  let code = npmInstall(folder, [asked, ...besideOf(name)]);
  // A range does not take in a version that is only to come, such as 5.0.0-beta.2.
  if (code === 'ETARGET' && /^\d+$/.test(range ?? '')) {
    code = npmInstall(folder, [`${name}@^${range}.0.0-0`, ...besideOf(name)]);
  }
  if (code === undefined) return undefined;
  if (code === 'E404') return `npm has no package ${name}`;
  if (code === 'ETARGET') return `npm has no version ${range} of ${name}`;
  if (FAR.test(code)) return `npm can't reach its registry (${code})`;
  return `npm can't install it (${code})`;
}

/** Returns the code with which npm fails, if it does. No install script is run. */
function npmInstall(cwd: string, packages: string[]): string | undefined {
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=0'];
  const { status, stderr, error } = spawnSync('npm', [...args, ...packages], { cwd, encoding: 'utf8' });
  if (status === 0) return undefined;
  return /error code (\w+)/i.exec(stderr ?? '')?.[1] ?? error?.message ?? stderr.trim().split('\n')[0];
}
