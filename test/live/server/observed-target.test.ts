import { expect, test } from 'vitest';
import { observeTarget } from '../../../live/server/observed-target.ts';
import type { Target, TargetNode } from '../../../loadtest/harness/target.ts';
import { until } from '../../services/inventory/node-under-test.ts';
import { ownTarget } from './own-target.ts';

const target = ownTarget(['masters']);

/** Observes a stack, and counts how often something is said to have changed. */
function observe(target: Target) {
  let changes = 0;
  const observed = observeTarget(target, () => (changes += 1));
  const [first, second] = observed.target.nodes as [TargetNode, TargetNode];
  return {
    ...observed,
    first,
    second,
    changes: () => changes,
    part: (name: string) => observed.parts().find((part) => part.name === name)?.is,
    line: (from: string, to: string) => {
      const { is, held } = observed.lines().find((line) => line.from === from && line.to === to) ?? {};
      return held === undefined ? is : `${is}, ${held} held`;
    },
  };
}

const within = (act: (seen: ReturnType<typeof observe>, target: Target) => Promise<void>) =>
  act(observe(target()), target());

test('observed target: every part is there, and a line from each node to each server', () =>
  within(async ({ parts, lines, changes }) => {
    const masters = [1, 2, 3, 4, 5].map((count) => ({ name: `master-${count}`, kind: 'master', is: 'up' }));
    expect(parts()).toEqual([
      { name: 'nginx', kind: 'nginx', is: 'up' },
      { name: 'node-1', kind: 'node', is: 'up' },
      { name: 'node-2', kind: 'node', is: 'up' },
      { name: 'redis', kind: 'redis', is: 'up' },
      ...masters,
    ]);
    const servers = ['redis', ...masters.map(({ name }) => name)];
    expect(lines()).toEqual(
      ['node-1', 'node-2'].flatMap((from) => servers.map((to) => ({ from, to, is: 'open' as const }))),
    );
    expect(changes()).toBe(0);
  }));

test('observed target: nothing is lacking, and what counts goes on counting', () =>
  within(async ({ target, first }, given) => {
    expect(Object.keys(target)).toEqual(Object.keys(given));
    expect(Object.keys(target.stack ?? {})).toEqual(Object.keys(given.stack ?? {}));
    const [node] = given.nodes;
    expect(Object.keys(first).sort()).toEqual(Object.keys(node ?? {}).sort());
    expect(Object.keys(first.link ?? {})).toEqual(Object.keys(node?.link ?? {}));
    const asked = () => first.link?.counters.commands.get('MGET') ?? 0;
    const before = asked();

    await first.stock();

    expect(asked()).toBe(before + 1);
    expect(first.link?.counters.open).toBe(node?.link?.counters.open);
  }));

test('observed target: a process is up, stopped, and dead', () =>
  within(async ({ target, first, part, changes }) => {
    const { process } = first;
    process?.signal('SIGSTOP');
    expect(part('node-1')).toBe('stopped');
    process?.signal('SIGCONT');
    expect(part('node-1')).toBe('up');

    const killed = process?.kill();
    // First it tells what it has done.
    expect(part('node-1')).toBe('up');
    await killed;
    expect(part('node-1')).toBe('dead');
    process?.signal('SIGCONT');
    expect(part('node-1')).toBe('dead');
    const started = process?.start();
    expect(part('node-1')).toBe('dead');
    await started;
    expect(part('node-1')).toBe('up');
    expect((await first.state()).node).toBe('node-1');
    expect(changes()).toBe(4);

    target.stack?.redisProcess?.signal('SIGSTOP');
    target.stack?.masters[2]?.process?.signal('SIGSTOP');
    expect([part('redis'), part('master-2'), part('master-3')]).toEqual(['stopped', 'up', 'stopped']);
    target.stack?.redisProcess?.signal('SIGCONT');
    target.stack?.masters[2]?.process?.signal('SIGCONT');
    expect([part('redis'), part('master-3')]).toEqual(['up', 'up']);
  }));

test('observed target: a line is open, slow and cut, and a server that no line reaches is cut', () =>
  within(async ({ first, second, part, line }) => {
    first.link?.delayReplies(50);
    expect(line('node-1', 'redis')).toBe('slow');
    first.link?.cut('silent');
    expect(line('node-1', 'redis')).toBe('cut');
    expect(part('redis')).toBe('up');
    second.link?.cut();
    expect([line('node-2', 'redis'), part('redis')]).toEqual(['cut', 'cut']);
    second.link?.restore();
    first.link?.restore();
    expect([line('node-1', 'redis'), line('node-2', 'redis'), part('redis')]).toEqual(['slow', 'open', 'up']);
    first.link?.delayReplies(0);
    expect(line('node-1', 'redis')).toBe('open');

    first.masterLinks?.[4]?.cut();
    expect(line('node-1', 'master-5')).toBe('cut');
    first.masterLinks?.[4]?.restore();
    expect(line('node-1', 'master-5')).toBe('open');
    for (const node of [first, second]) await until('it reaches Redis', () => node.redis().then(Boolean, () => false));
  }));

test('observed target: a command is held from its arrival until it is let go', () =>
  within(async ({ first, line }) => {
    const held = first.link?.holdNext('MGET');
    expect(line('node-1', 'redis')).toBe('open');
    const stock = first.stock();
    const { name } = (await held?.arrived) ?? {};
    expect(name).toBe('MGET');
    expect(line('node-1', 'redis')).toBe('open, MGET held');

    const letGo = held?.letGo();
    expect(line('node-1', 'redis')).toBe('open');
    expect(await letGo).toBe(true);
    await stock;
  }));

test('observed target: a command is held until it is dropped; one that is cancelled before it came never was', () =>
  within(async ({ first, line }) => {
    const never = first.link?.holdNext('MGET');
    never?.cancel();
    const held = first.link?.holdNext(({ args }) => args.some((arg) => arg.includes('dropped')));
    const stock = first.stock('dropped').catch((error: Error) => error.message);
    await held?.arrived;
    expect(line('node-1', 'redis')).toBe('open, MGET held');
    held?.cancel();
    expect(line('node-1', 'redis')).toBe('open, MGET held');

    held?.drop();
    expect(line('node-1', 'redis')).toBe('open');
    expect(await stock).toContain('STORE_UNAVAILABLE');
    await until('it reaches Redis', () => first.redis().then(Boolean, () => false));
  }));

test('observed target: a script that is held has its own name', () =>
  within(async ({ first, line }) => {
    await first.setLock('6-lua-release');
    await first.setStock(5);
    const held = first.link?.holdNext('release-if-owner');
    const sale = fetch(`${first.publicUrl}/inventory/sale`, { method: 'POST' });
    await held?.arrived;
    expect(line('node-1', 'redis')).toBe('open, release-if-owner held');
    await held?.letGo();
    expect((await sale).status).toBe(200);
    await first.clear();
    await first.reset();
  }));

test('observed target: a replica and a server with another clock are parts until they are stopped, and lines lead there', () =>
  within(async ({ target: { stack }, first, parts, line }) => {
    const names = () => parts().map(({ name }) => name);
    const before = names();
    const clock = await stack?.startClockServer();
    expect(names()).toEqual([...before, 'clock-server']);
    first.link?.moveTo(clock?.url ?? '');
    expect([line('node-1', 'redis'), line('node-1', 'clock-server')]).toEqual([undefined, 'open']);
    first.link?.moveTo(stack?.redis.url ?? '');
    expect(line('node-1', 'redis')).toBe('open');
    await clock?.stop();
    expect(names()).toEqual(before);

    if (stack?.startReplica === undefined) return;
    const [one, other] = [await stack.startReplica(stack.redis.url), await stack.startReplica(stack.redis.url)];
    expect(parts().slice(before.length)).toEqual([
      { name: 'replica', kind: 'replica', is: 'up' },
      { name: 'replica-2', kind: 'replica', is: 'up' },
    ]);
    await one.stop();
    expect(names()).toEqual([...before, 'replica-2']);
    await other.stop();
    await until('it reaches Redis', () => first.redis().then(Boolean, () => false));
  }));

test('observed target: what the stock was set to is known, of the sku that is drawn', () =>
  within(async ({ first, second, stockSet }) => {
    expect(stockSet()).toBeUndefined();
    await first.setStock(7);
    await second.setStock(3, 'other');
    expect(stockSet()).toEqual({ units: 7, times: 1, at: expect.any(Number) });
    await second.setStock(7, '001');
    expect(stockSet()).toEqual({ units: 7, times: 2, at: expect.any(Number) });
    expect(await first.stock()).toBe(7);
    await first.clear();
    await first.clear('other');
  }));
