import { describe, expect, onTestFinished, test } from 'vitest';
import { leavesNothing, makeBarePath, ownCommands } from '../../scripts/command-under-test.ts';
import { isUp, ports, sell } from '../../scripts/own-ports.ts';
import { startRedis } from '../../services/inventory/node-under-test.ts';

const startOwn = ownCommands('scripts/up.ts');
const start = (file: string, env: NodeJS.ProcessEnv) => startOwn(file, [], env);

describe('npm run up', () => {
  test('two of different checkouts: each sells on its nodes, refuses a second one, and ends alone', async () => {
    const [env, otherEnv] = [await ports(), await ports()];
    const bare = makeBarePath();
    onTestFinished(bare.remove);
    const up = start('scripts/up.ts', { ...env, LOCK_VERSION: '4' });
    const other = start('scripts/up.ts', { ...otherEnv, PATH: bare.path });
    await Promise.all([up.prints(isUp), other.prints(isUp)]);

    const sales = [await sell(env), await sell(env), await sell(otherEnv)];
    expect(sales.map(({ remaining }) => remaining)).toEqual([4999, 4998, 4999]);
    expect(sales.map(({ node }) => node)).toEqual(expect.arrayContaining(['node-1', 'node-2']));

    // `up` and `down` find the stack of this checkout in TMPDIR.
    const second = start('scripts/up.ts', { ...(await ports()), TMPDIR: up.tmp });
    expect((await second.ended).code).toBe(2);
    expect(second.stderr()).toBe('The stack is already up. Stop it with: npm run down\n');
    expect((await sell(env)).remaining).toBe(4997);

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
    const rest = { TMPDIR: crashed.tmp, REDIS_URL: redis.url, LOCK_VERSION: 'fenced' };
    const again = start('scripts/up.ts', { ...env, ...rest });
    await again.prints(isUp);
    expect((await sell(env)).remaining).toBe(4999);

    const node = await (await fetch(`http://127.0.0.1:${env.NODE_1_LAB_PORT}/state`)).json();
    process.kill((node as { pid: number }).pid, 'SIGKILL');
    expect((await again.ended).code).toBe(1);
    expect(again.stdout()).toMatch(/^node-1 was killed by SIGKILL/m);
    expect(crashed.leftovers()).toEqual([]);
  });
});
