import { expect, onTestFinished, test, vi } from 'vitest';
import { startBackends } from '../../stack/backends.ts';

test.each([
  ['MYSQL_URL', 'user:s3cret@host/db'],
  ['ZOOKEEPER_URL', '127.0.0.1:99999'],
])('backends: %s=%s ends the command before anything is asked or started, and is not shown', async (name, value) => {
  vi.stubEnv(name, value);
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const exit = vi.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`exit code ${code}`);
  });
  onTestFinished(() => {
    vi.unstubAllEnvs();
    exit.mockRestore();
    write.mockRestore();
  });

  await expect(startBackends(['mysql', 'zookeeper'])).rejects.toThrow('exit code 2');

  expect(write.mock.calls.join('')).toMatch(new RegExp(`^${name} is not allowed: it must be [^\\n]*\\n`));
  expect(write.mock.calls.join('')).not.toContain(value);
});
