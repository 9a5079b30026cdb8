import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeTempDir } from '../../../scripts/stack/parts.ts';
import { findOnPath } from '../../../scripts/stack/path.ts';
import { freePort, isFree } from '../../../scripts/stack/ports.ts';
import { leavesNothing, makeBarePath, ownCommands } from '../../loadtest/commands/command-under-test.ts';
import { startRedis } from '../../services/inventory/node-under-test.ts';

const startOwn = ownCommands('scripts/up.ts');
const start = (file: string, env: NodeJS.ProcessEnv) => startOwn(file, [], env);

const variables = [
  'REDIS_PORT',
  'MYSQL_PORT',
  'NGINX_PORT',
  'NODE_1_PORT',
  'NODE_1_LAB_PORT',
  'NODE_2_PORT',
  'NODE_2_LAB_PORT',
] as const;

async function ports() {
  const free = await Promise.all(variables.map(async (variable) => [variable, String(await freePort())]));
  return Object.fromEntries(free) as Record<(typeof variables)[number], string>;
}

const isUp = /Stop: +Ctrl-C/;

async function sell(env: Awaited<ReturnType<typeof ports>>) {
  const response = await fetch(`http://127.0.0.1:${env.NGINX_PORT}/inventory/sale`, { method: 'POST' });
  return (await response.json()) as { node: string; lock: string; remaining: number; orderId?: string };
}

async function switchLock(labPort: string, version: string) {
  const response = await fetch(`http://127.0.0.1:${labPort}/lock-version`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ version }),
  });
  return response.status;
}

describe('npm run up', () => {
  test('two of different checkouts: each sells on its nodes, switches its lock, refuses a second one, and ends alone', async () => {
    const [env, otherEnv] = [await ports(), await ports()];
    const bare = makeBarePath();
    onTestFinished(bare.remove);
    const up = start('scripts/up.ts', { ...env, LOCK_VERSION: '4' });
    const other = start('scripts/up.ts', { ...otherEnv, PATH: bare.path });
    await Promise.all([up.prints(isUp), other.prints(isUp)]);

    // What it prints names every address and what is used.
    const { REDIS_PORT, MYSQL_PORT, ...rest } = otherEnv;
    expect(other.stdout()).toContain(`embedded, redis://127.0.0.1:${REDIS_PORT}\n`);
    expect(up.stdout()).toContain(`redis://127.0.0.1:${env.REDIS_PORT}\n`);
    expect(other.stdout()).toMatch(/nginx +embedded 1\.25\.4/);
    for (const port of Object.values(rest)) expect(other.stdout()).toContain(`http://127.0.0.1:${port}`);
    // Without a lock or orders that need one there is no MySQL.
    expect(await isFree(Number(MYSQL_PORT))).toBe(true);

    const before = [await sell(env), await sell(env)];
    expect(before.map(({ lock }) => lock)).toEqual(['4-ttl', '4-ttl']);
    expect(before.map(({ node }) => node).sort()).toEqual(['node-1', 'node-2']);
    expect(before.map(({ remaining }) => remaining)).toEqual([4999, 4998]);
    expect((await sell(otherEnv)).remaining).toBe(4999);

    expect(await switchLock(env.NODE_1_LAB_PORT, '7')).toBe(200);
    expect(await switchLock(env.NODE_2_LAB_PORT, '7-reentrant')).toBe(200);
    expect([await sell(env), await sell(env)].map(({ lock }) => lock)).toEqual(['7-reentrant', '7-reentrant']);

    // `up` and `down` find the stack of this checkout in TMPDIR.
    const second = start('scripts/up.ts', { ...(await ports()), TMPDIR: up.tmp });
    expect((await second.ended).code).toBe(2);
    expect(second.stderr()).toBe('The stack is up already. Stop it with: npm run down\n');
    expect((await sell(env)).remaining).toBe(4995);

    const down = start('scripts/down.ts', { TMPDIR: up.tmp });
    expect((await down.ended).code).toBe(0);
    expect(down.stdout()).toBe('The stack is down.\n');
    expect((await up.ended).code).toBe(0);
    expect(up.leftovers()).toEqual([]);

    expect((await sell(otherEnv)).remaining).toBe(4998);
    other.child.kill('SIGINT');
    expect(await other.ended).toEqual({ code: 0, signal: null });
    expect(other.leftovers()).toEqual([]);
  });

  test('a crash: the reaper leaves nothing behind, and it can be started again, until a part of it dies', async () => {
    const redis = await startRedis();
    await redis.client.hset('{inventory001}:fence', 'fenced', 99);
    const env = await ports();
    const crashed = start('scripts/up.ts', env);
    await crashed.prints(isUp);
    crashed.child.kill('SIGKILL');
    await crashed.ended;
    await leavesNothing(crashed);

    // Its Redis has seen newer tokens: the stock begins anew there.
    const again = start('scripts/up.ts', {
      ...env,
      TMPDIR: crashed.tmp,
      REDIS_URL: redis.url,
      LOCK_VERSION: 'fenced',
    });
    await again.prints(isUp);
    expect((await sell(env)).remaining).toBe(4999);

    const node = await (await fetch(`http://127.0.0.1:${env.NODE_1_LAB_PORT}/state`)).json();
    process.kill((node as { pid: number }).pid, 'SIGKILL');
    expect((await again.ended).code).toBe(1);
    expect(again.stdout()).toContain('node-1 was ended by SIGKILL');
    expect(crashed.leftovers()).toEqual([]);
  });

  test.each(variables)('a port that is taken is named, with its variable: %s', async (variable) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const env = { ...(await ports()), [variable]: String(port), ...(variable === 'MYSQL_PORT' && { ORDERS: 'on' }) };
    const up = start('scripts/up.ts', env);
    expect((await up.ended).code).toBe(2);
    expect(up.stderr()).toBe(`Port ${port} is taken by another program. Choose another one with ${variable}.\n`);
  });

  test('a port that is taken after it has looked is named as well', async () => {
    const env = await ports();
    const up = start('scripts/up.ts', { ...env, PATH: pathThatTakes(env.NODE_2_LAB_PORT) });
    expect((await up.ended).code).toBe(2);
    expect(up.stderr()).toBe(
      `Port ${env.NODE_2_LAB_PORT} is taken by another program. Choose another one with NODE_2_LAB_PORT.\n`,
    );
    expect(up.leftovers()).toEqual([]);
  });
});

/** A PATH whose redis-server takes the port first, as a program would that was quicker than the node. */
function pathThatTakes(port: string) {
  const temp = makeTempDir();
  onTestFinished(temp.remove);
  const program = `#!/usr/bin/env node
    const redis = () => require('node:child_process').spawn('${findOnPath('redis-server', 'valkey-server')}', process.argv.slice(2), { stdio: 'inherit' });
    require('node:net').createServer().listen(${port}, '127.0.0.1', () => redis().on('exit', process.exit));`;
  writeFileSync(join(temp.dir, 'redis-server'), program, { mode: 0o755 });
  return [temp.dir, process.env['PATH']].join(delimiter);
}
