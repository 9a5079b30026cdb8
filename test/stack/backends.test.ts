import { expect, onTestFinished, test, vi } from 'vitest';
import { startBackends } from '../../stack/backends.ts';
import { printedAtEnd } from '../exits.ts';

test.each([
  ['MYSQL_URL', 'user:s3cret@host/db'],
  ['ZOOKEEPER_URL', '127.0.0.1:99999'],
])('backends: %s=%s ends the command before anything is asked or started, and is not shown', async (name, value) => {
  vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());

  const printed = await printedAtEnd(() => startBackends(['mysql', 'zookeeper']));

  expect(printed).toMatch(new RegExp(`^${name} is not allowed: it must be [^\\n]*\\n`));
  expect(printed).not.toContain(value);
});
