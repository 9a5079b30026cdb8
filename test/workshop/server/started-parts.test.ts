import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { rowOf } from '../../../loadtest/staircase/lookup.ts';
import type { Row } from '../../../loadtest/staircase/staircase.ts';
import { findOnPath } from '../../../stack/path.ts';
import { startedParts } from '../../../workshop/server/started-parts.ts';

const settings = { redis: 'REDIS_URL', masters: 'REDLOCK_URLS', mysql: 'MYSQL_URL', zookeeper: 'ZOOKEEPER_URL' };

beforeEach(() => {
  for (const setting of Object.values(settings)) vi.stubEnv(setting, '');
});
afterEach(() => void vi.unstubAllEnvs());

test.each<[string, (keyof typeof settings)[], string[]]>([
  ['4-ttl', [], ['redis', 'nginx', 'nodes']],
  ['4-ttl', ['redis'], ['nginx', 'nodes']],
  ['replicated', [], ['redis', 'replica', 'nginx', 'nodes']],
  ['redlock', [], ['redis', 'masters', 'nginx', 'nodes']],
  ['redlock', ['masters'], ['redis', 'nginx', 'nodes']],
  ['mysql-named', [], ['redis', findOnPath('mariadbd') ? 'mariadb' : 'mysql', 'nginx', 'nodes']],
  ['mysql-named', ['mysql'], ['redis', 'nginx', 'nodes']],
  ['zookeeper', [], ['redis', 'zookeeper', 'nginx', 'nodes']],
  ['zookeeper', ['zookeeper'], ['redis', 'nginx', 'nodes']],
])('%s, where there is a server already for %j: %j are started', (row, given, parts) => {
  for (const each of given) vi.stubEnv(settings[each], 'redis://192.0.2.7:6379');

  expect(startedParts(rowOf(row) as Row)).toEqual(parts);
});
