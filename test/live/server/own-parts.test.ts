import { describe, expect, test } from 'vitest';
import type { Line, Part } from '../../../live/contract.ts';
import { ownParts, takesLock } from '../../../live/server/own-parts.ts';

const part = (name: string, kind: Part['kind']): Part => ({ name, kind, is: 'up' });
const line = (from: string, to: string): Line => ({ from, to, is: 'open' });
const servers = [
  part('redis', 'redis'),
  part('replica', 'replica'),
  part('master-1', 'master'),
  part('zookeeper', 'zookeeper'),
  part('mysql', 'mysql'),
];
/** A stack in which every server runs. */
const all = {
  parts: [part('nginx', 'nginx'), part('node-1', 'node'), ...servers],
  lines: [
    ...servers.filter(({ kind }) => kind !== 'replica').map(({ name }) => line('node-1', name)),
    line('redis', 'replica'),
  ],
};

describe('the parts that a strategy uses', () => {
  test.each([
    ['4-ttl', ['redis', 'replica']],
    ['fenced', ['redis', 'replica']],
    ['redlock', ['redis', 'replica', 'master-1']],
    ['zookeeper', ['redis', 'replica', 'zookeeper']],
    ['mysql-lock-table', ['redis', 'replica', 'mysql']],
    ['mysql-named', ['redis', 'replica', 'mysql']],
    ['mysql-pessimistic', ['mysql']],
    ['mysql-optimistic', ['mysql']],
    ['mysql-conditional', ['mysql']],
    ['redis-atomic', ['redis', 'replica']],
  ])('%s: %j, and no line to another one', (stage, used) => {
    const { parts, lines } = ownParts(stage, all);

    expect(parts.map(({ name }) => name)).toEqual(['nginx', 'node-1', ...used]);
    expect(lines.map(({ to }) => to).toSorted()).toEqual(used.toSorted());
  });
});

test.each([
  ['0-none', true],
  ['4-ttl', true],
  ['combine', true],
  ['mysql-lock-table', true],
  ['mysql-pessimistic', true],
  ['mysql-optimistic', false],
  ['mysql-conditional', false],
  ['redis-atomic', false],
])('%s: sales take a lock: %j', (stage, does) => {
  expect(takesLock(stage)).toBe(does);
});
