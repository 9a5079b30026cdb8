import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeTempDir } from '../../stack/parts.ts';
import { lackOfDeleting, lacksDeleting } from '../lacks-deleting.ts';
import { listen } from '../listen.ts';
import { sharedRedis } from '../own-stack.ts';
import { ownCommands } from './command-under-test.ts';
import { isUp, ports, sell } from './own-ports.ts';
import { cell, readLatest } from './quick-run.ts';

const startOwn = ownCommands('scripts/up.ts', 'scripts/start.ts');
const start = (file: string, env: NodeJS.ProcessEnv, args: string[] = []) => startOwn(file, args, env);

describe('npm run up', () => {
  test('--stage, which other commands have: it ends with 2, and says how a lock is named here', async () => {
    const up = start('scripts/up.ts', {}, ['--stage', '2']);

    expect((await up.ended).code).toBe(2);
    expect(up.stderr()).toContain('LOCK_VERSION=2 npm run up');
  });

  test('ORDERS=on: it starts a MySQL, sales write orders, what it prints leads to both, and npm run down ends it', async () => {
    const env = await ports();
    const up = start('scripts/up.ts', { ...env, ORDERS: 'on' });
    await up.prints(isUp);
    const [log = '', table = ''] = up.stdout().split('\nredis ');
    expect(log.match(/"msg":"listening"/g)).toHaveLength(2);
    expect(table).not.toContain('"msg"');
    expect(up.stdout()).toContain(`MYSQL_URL=mysql://root@127.0.0.1:${env.MYSQL_PORT}/`);

    const sold = await sell(env);

    const [, list = ''] = /See the orders: +curl -w '\\n' (\S+)/.exec(up.stdout()) ?? [];
    const { orders } = (await (await fetch(list)).json()) as { orders: { id: string }[] };
    expect(orders).toMatchObject([{ id: sold.orderId, status: 'UNPAID' }]);
    const [, redis = '', mysql = ''] = /REDIS_URL=(\S+) MYSQL_URL=(\S+) npm run reconcile/.exec(up.stdout()) ?? [];
    const reconcile = start('scripts/reconcile.ts', { REDIS_URL: redis, MYSQL_URL: mysql });
    expect((await reconcile.ended).code).toBe(0);
    expect(reconcile.stdout()).toMatch(/│ 001 │ redis +│ +5000 │ +4999 │ +1 │.*Every unit is accounted for\./s);

    // `up` and `down` find the stack of this checkout in TMPDIR.
    const down = start('scripts/down.ts', { TMPDIR: up.tmp });
    expect((await down.ended).code).toBe(0);
    expect(down.stdout()).toBe('The stack is down.\n');
    expect((await up.ended).code).toBe(0);
    expect(up.leftovers()).toEqual([]);
  });

  test('--nodes 4: nginx sends to all four, and a rush by the line that it prints counts what each of them sold', async () => {
    const env = await ports(4);
    const up = start('scripts/up.ts', env, ['--nodes', '4']);
    await up.prints(isUp);
    const [, given = ''] = /Run a drill on it: +npm start -- (.*) --stage 1/.exec(up.stdout()) ?? [];
    const load = '--stage 8 --drill rush --requests 40 --connections 8'.split(' ');

    const rush = start('scripts/start.ts', {}, [...given.split(' '), ...load]);

    expect((await rush.ended).code).toBe(0);
    expect(rush.stdout()).toContain('4 nodes behind nginx');
    expect(rush.stdout()).toContain('sold by node-1: 10, node-2: 10, node-3: 10, node-4: 10');
    const results = readLatest(rush);
    expect(results.environment.nodes).toBe(4);
    expect(cell(results, '8-auto-renew', 'rush')?.figures).toMatchObject({ received: 40, sold: 40 });
    up.child.kill('SIGINT');
    expect((await up.ended).code).toBe(0);
  });

  test('--nodes 17: refused with what is allowed, and nothing is started', async () => {
    const up = start('scripts/up.ts', {}, ['--nodes', '17']);
    expect((await up.ended).code).toBe(2);
    expect(up.stderr()).toMatch(/--nodes <n>' argument '17' is invalid\. It must be a whole number from 2 to 16\.\n$/);
  });

  test.each([
    { variable: 'NGINX_PORT', HOST: '127.0.0.1' },
    { variable: 'MYSQL_PORT', HOST: '127.0.0.1' },
    // Any of the addresses of Linux, where others have one.
    { variable: 'NODE_2_PORT', HOST: process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1' },
  ])('a port that is taken is named, with its variable: $variable on $HOST', async ({ variable, HOST }) => {
    const port = await listen(createServer(), HOST);
    const env = {
      ...(await ports()),
      HOST,
      [variable]: String(port),
      ...(variable === 'MYSQL_PORT' && { ORDERS: 'on' }),
    };
    const up = start('scripts/up.ts', env);
    expect((await up.ended).code).toBe(2);
    expect(up.stderr()).toBe(`Port ${port} is taken by another program. Choose another one with ${variable}.\n`);
  });

  test('a lock whose commands Redis lacks: it is not started, says what to do, and leaves nothing', async ({
    skip,
  }) => {
    skip(!(await lacksDeleting((await sharedRedis()).url)));
    const up = start('scripts/up.ts', { ...(await ports()), LOCK_VERSION: 'delete-if-equal' });

    expect(await up.ended).toEqual({ code: 2, signal: null });

    const [, why] = /^The stack could not be started: (.*)\n$/.exec(up.stderr()) ?? [];
    expect(why).toMatch(lackOfDeleting);
    expect(up.leftovers()).toEqual([]);
  });

  test('a folder for temporary files that can hold no socket is said', async () => {
    const temp = makeTempDir();
    onTestFinished(temp.remove);
    const long = join(temp.dir, 'x'.repeat(100));
    mkdirSync(long);
    const up = start('scripts/up.ts', { TMPDIR: long });
    expect((await up.ended).code).toBe(2);
    expect(up.stderr()).toMatch(
      /^npm run up can't listen on \S+: .+\. Set TMPDIR to a writable folder with a short path\.\n$/,
    );
  });
});

test('npm run down: says so when nothing is up', async () => {
  const down = start('scripts/down.ts', {});
  expect((await down.ended).code).toBe(0);
  expect(down.stdout()).toBe('No stack is up.\n');
});
