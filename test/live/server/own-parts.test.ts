import { expect, test } from 'vitest';
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
  lines: servers.map(({ name }) => line(name === 'replica' ? 'redis' : 'node-1', name)),
};

test.each([
  ['4-ttl', true, ['redis', 'replica']],
  ['redlock', true, ['redis', 'replica', 'master-1']],
  ['mysql-pessimistic', true, ['mysql']],
  ['mysql-optimistic', false, ['mysql']],
])('%s: a lock is drawn: %j; with these servers and the lines to them: %j', (stage, hasLock, used) => {
  const { parts, lines } = ownParts(stage, all);

  expect(takesLock(stage)).toBe(hasLock);
  expect(parts.map(({ name }) => name)).toEqual(['nginx', 'node-1', ...used]);
  expect(lines.map(({ to }) => to)).toEqual(used);
});
