import { expect, test } from 'vitest';
import { envFileWarnings } from '../../../services/inventory/env-file.ts';

test('a name that is no setting is named, and those of the service and of the stack are not', () => {
  const names = ['LOCK_VERSION', 'LOCK_VERSON', 'NGINX_PORT', 'LAB_NETWORK'];

  const warnings = envFileWarnings(Buffer.from('LOCK_VERSON=1'), names);

  expect(warnings).toEqual([expect.stringContaining('LOCK_VERSON')]);
});

test.each([
  ['utf16le', [], 1],
  ['utf8', ['LOCK_VERSION'], 0],
] as const)('a file in %s', (encoding, names, warnings) => {
  expect(envFileWarnings(Buffer.from('LOCK_VERSION=1', encoding), [...names])).toHaveLength(warnings);
});
