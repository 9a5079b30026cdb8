import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { freePort } from '../../scripts/stack/parts.ts';
import { makeBarePath, ownCommands } from '../loadtest/commands/command-under-test.ts';
import { startRedis } from '../services/inventory/node-under-test.ts';

const startOwn = ownCommands('scripts/up.ts');
const start = (file: string, env: NodeJS.ProcessEnv) => startOwn(file, [], env);

async function ports() {
  return {
    NGINX_PORT: String(await freePort()),
    NODE_1_PORT: String(await freePort()),
    NODE_1_LAB_PORT: String(await freePort()),
    NODE_2_PORT: String(await freePort()),
    NODE_2_LAB_PORT: String(await freePort()),
  };
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
  test('it sells on both nodes, its lock is switched while it runs, and npm run down ends it', async () => {
    const env = await ports();
    const up = start('scripts/up.ts', { ...env, LOCK_VERSION: '4' });
    await up.prints(isUp);

    const before = [await sell(env), await sell(env)];
    expect(before.map(({ lock }) => lock)).toEqual(['4-ttl', '4-ttl']);
    expect(before.map(({ node }) => node).sort()).toEqual(['node-1', 'node-2']);
    expect(before.map(({ remaining }) => remaining)).toEqual([4999, 4998]);

    expect(await switchLock(env.NODE_1_LAB_PORT, '7')).toBe(200);
    expect(await switchLock(env.NODE_2_LAB_PORT, '7-reentrant')).toBe(200);
    expect([await sell(env), await sell(env)].map(({ lock }) => lock)).toEqual(['7-reentrant', '7-reentrant']);

    // The same TMPDIR: `down` finds the stack of this checkout there.
    const down = start('scripts/down.ts', { TMPDIR: up.tmp });
    expect((await down.ended).code).toBe(0);
    expect(down.stdout()).toBe('The stack is down.\n');
    expect((await up.ended).code).toBe(0);
    expect(up.leftovers()).toEqual([]);
  });

  test('ORDERS=on: it starts a MySQL, sales write orders, and what it prints leads to both', async () => {
    const env = await ports();
    const up = start('scripts/up.ts', { ...env, ORDERS: 'on' });
    await up.prints(isUp);

    const sold = await sell(env);

    const [, list = ''] = /See the orders: +curl -w '\\n' (\S+)/.exec(up.stdout()) ?? [];
    const { orders } = (await (await fetch(list)).json()) as { orders: { id: string }[] };
    expect(orders).toMatchObject([{ id: sold.orderId, status: 'UNPAID' }]);
    const [, redis = '', mysql = ''] = /REDIS_URL=(\S+) MYSQL_URL=(\S+) npm run reconcile/.exec(up.stdout()) ?? [];
    const reconcile = start('scripts/reconcile.ts', { REDIS_URL: redis, MYSQL_URL: mysql });
    expect((await reconcile.ended).code).toBe(0);
    expect(reconcile.stdout()).toMatch(/│ 001 │ redis +│ +5000 │ +4999 │ +1 │.*Nothing is unexplained\./s);
  });

  test('what it prints names every address and what is used', async () => {
    const env = await ports();
    const bare = makeBarePath();
    const up = start('scripts/up.ts', { ...env, PATH: bare.path });
    await up.prints(isUp);
    expect(up.stdout()).toMatch(/redis +embedded, redis:\/\/127\.0\.0\.1:\d+/);
    expect(up.stdout()).toMatch(/nginx +embedded 1\.25\.4/);
    for (const port of Object.values(env)) expect(up.stdout()).toContain(`http://127.0.0.1:${port}`);
    up.child.kill('SIGINT');
    expect(await up.ended).toEqual({ code: 0, signal: null });
    expect(up.leftovers()).toEqual([]);
    bare.remove();
  });

  test('its stock begins anew in a Redis that has seen newer tokens', async () => {
    const redis = await startRedis();
    await redis.client.hset('{inventory001}:fence', 'fenced', 99);
    const env = await ports();
    const up = start('scripts/up.ts', { ...env, REDIS_URL: redis.url, LOCK_VERSION: 'fenced' });
    await up.prints(isUp);

    expect((await sell(env)).remaining).toBe(4999);
  });

  test.each(['NGINX_PORT', 'NODE_1_PORT', 'NODE_1_LAB_PORT', 'NODE_2_PORT', 'NODE_2_LAB_PORT'] as const)(
    'a port that is taken is named, with its variable: %s',
    async (variable) => {
      const env = await ports();
      const other = createServer().listen(Number(env[variable]), '127.0.0.1');
      const up = start('scripts/up.ts', env);
      expect((await up.ended).code).toBe(2);
      expect(up.stderr()).toBe(
        `Port ${env[variable]} is taken by another program. Choose another one with ${variable}.\n`,
      );
      other.close();
    },
  );

  test('a second one is refused, and the first goes on', async () => {
    const env = await ports();
    const first = start('scripts/up.ts', env);
    await first.prints(isUp);
    const second = start('scripts/up.ts', { ...(await ports()), TMPDIR: first.tmp });
    expect((await second.ended).code).toBe(2);
    expect(second.stderr()).toBe('The stack is up already. Stop it with: npm run down\n');
    expect((await sell(env)).remaining).toBe(4999);
  });

  test('a part that dies ends the rest, and the part is named', async () => {
    const env = await ports();
    const up = start('scripts/up.ts', env);
    await up.prints(isUp);
    const node = await (await fetch(`http://127.0.0.1:${env.NODE_1_LAB_PORT}/state`)).json();
    process.kill((node as { pid: number }).pid, 'SIGKILL');
    expect((await up.ended).code).toBe(1);
    expect(up.stdout()).toContain('node-1 was ended by SIGKILL');
    expect(up.leftovers()).toEqual([]);
  });

  test('a crash: the reaper leaves nothing behind, and it can be started again', async () => {
    const env = await ports();
    const crashed = start('scripts/up.ts', env);
    await crashed.prints(isUp);
    crashed.child.kill('SIGKILL');
    await crashed.ended;
    await expect.poll(() => crashed.leftovers(), { timeout: 10_000 }).toEqual([]);
    const again = start('scripts/up.ts', { ...env, TMPDIR: crashed.tmp });
    await again.prints(isUp);
    expect((await sell(env)).remaining).toBe(4999);
  });

  test('two of different checkouts do not disturb each other', async () => {
    const [one, two] = [await ports(), await ports()];
    const first = start('scripts/up.ts', one);
    const second = start('scripts/up.ts', two);
    await Promise.all([first.prints(isUp), second.prints(isUp)]);
    await sell(one);
    expect((await sell(one)).remaining).toBe(4998);
    expect((await sell(two)).remaining).toBe(4999);
  });
});

test('npm run down: says so when nothing is up', async () => {
  const down = start('scripts/down.ts', {});
  expect((await down.ended).code).toBe(0);
  expect(down.stdout()).toBe('Nothing is up.\n');
});
