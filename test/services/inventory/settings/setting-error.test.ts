import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { shown, withoutPassword } from '../../../../services/inventory/settings/setting-error.ts';
import { inventorySettings, readSettingsOrExit } from '../../../../services/inventory/settings/settings.ts';

test.each([
  ['redis://:s3cret@h:1/2', 'redis://:***@h:1/2'],
  ['rediss+sentinel://user:s3/c:r@t@h:1,i:2/m', 'rediss+sentinel://user:***@h:1,i:2/m'],
  ['redis://h:1?password=s3cret&db=2', 'redis://h:1?password=***&db=2'],
  ['A=redis://:s3cret@h:1 B=mysql://root@h:2/x', 'A=redis://:***@h:1 B=mysql://root@h:2/x'],
  ['redis://[::1]:6379, http://127.0.0.1:8080', 'redis://[::1]:6379, http://127.0.0.1:8080'],
])('%s', (text, shown) => {
  expect(withoutPassword(text)).toBe(shown);
});

test.each([
  ['REDIS_URL', 'redis://user:s3cret@h:1/2'],
  ['REDIS_URL', 'rediss+cluster://:s3cret:@h:1,i:2'],
  ['REDLOCK_URLS', 'redis://:s3cret@h:1,redis://user:s3cret@h:2,redis://h:3'],
  ['MYSQL_URL', 'mysql://user:s3cret@@h/db'],
])('%s=%s: it is allowed, and shown without its password', (name, value) => {
  expect(inventorySettings.partial().safeParse({ [name]: value }).success).toBe(true);
  expect(shown(value) + withoutPassword(`${name}=${value}`)).not.toContain('s3cret');
});

test('what should be a URL and is none is not shown, wherever its password is', () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  onTestFinished(() => {
    exit.mockRestore();
    write.mockRestore();
  });
  const name = fc.constantFrom('REDIS_URL', 'REDLOCK_URLS', 'MYSQL_URL', 'ZOOKEEPER_URL');
  const url = fc.tuple(
    fc.constantFrom('mysql', 'mysqls', 'redis', 'rediss+cluster', 'redis+sentinel', 'http', ''),
    fc.constantFrom('://', ':/', ':', '//', ''),
    fc.constantFrom('user:', ':', 'u%zz:', 'a@b:', 'a b:'),
    fc.constantFrom('s3cret', 's3cret@', '/s3cret', 's3cret%zz', 's3cret\n', 'x?s3cret#'),
    fc.constantFrom('@', '@@', '%40', ' @', ''),
    fc.constantFrom('h', 'h:1', 'h:0', 'h:99999', '[::1', '', 'h:1,i:2'),
    fc.constantFrom('', '/db', '/0', '/a-shop', '/m/2', '?x=1', '#f'),
  );

  const isNotShown = fc.property(name, url, (name, parts) => {
    readSettingsOrExit(inventorySettings, { [name]: parts.join('') });
    const [line = ''] = write.mock.lastCall ?? [];
    expect(line).not.toContain('s3cret');
    expect(line).toContain('_URL');
  });

  fc.assert(isNotShown, { seed: 15, numRuns: 1_000 });
});
