import { expect, test } from 'vitest';
import { observeTarget } from '../../../live/server/observed-target.ts';
import type { TargetNode } from '../../../loadtest/harness/target.ts';
import { until } from '../../services/inventory/node-under-test.ts';
import { ownTarget } from './own-target.ts';

// What is held, stopped and dead is seen in free-play.test.ts and player.test.ts.
const target = ownTarget(['masters']);

/** Observes the stack, and counts how often something is said to have changed. */
function observe() {
  let changes = 0;
  const observed = observeTarget(target(), () => (changes += 1));
  const [first, second] = observed.target.nodes as [TargetNode, TargetNode];
  return {
    ...observed,
    first,
    second,
    changes: () => changes,
    part: (name: string) => observed.parts().find((part) => part.name === name)?.is,
    line: (from: string, to: string) => observed.lines().find((line) => line.from === from && line.to === to)?.is,
  };
}

test('observed target: every part is there, and a line from each node to each server', () => {
  const { parts, lines, changes } = observe();
  const masters = [1, 2, 3, 4, 5].map((count) => `master-${count}`);
  expect(parts().map(({ name, kind }) => [name, kind])).toEqual([
    ['nginx', 'nginx'],
    ['node-1', 'node'],
    ['node-2', 'node'],
    ['redis', 'redis'],
    ...masters.map((name) => [name, 'master']),
  ]);
  const open = (from: string) => ['redis', ...masters].map((to) => ({ from, to, is: 'open' }));
  expect(lines()).toEqual([...open('node-1'), ...open('node-2')]);
  expect(changes()).toBe(0);
});

test('observed target: a line is open, slow and cut, and a server that no line reaches is cut', async () => {
  const { first, second, part, line } = observe();
  first.link?.delayReplies(50);
  expect(line('node-1', 'redis')).toBe('slow');
  first.link?.cut('silent');
  expect([line('node-1', 'redis'), part('redis')]).toEqual(['cut', 'up']);
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
});
