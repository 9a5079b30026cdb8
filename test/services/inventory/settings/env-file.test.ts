import { expect, test } from 'vitest';
import { envFileWarnings } from '../../../../services/inventory/settings/env-file.ts';

test.each<[string, BufferEncoding, string[], string[]]>([
  ['names of the service and of the stack', 'utf8', ['LOCK_VERSION', 'NGINX_PORT', 'LAB_NETWORK'], []],
  ['a name that is no setting', 'utf8', ['LOCK_VERSION', 'LOCK_VERSON'], ['LOCK_VERSON']],
  ['a file that is not in UTF-8', 'utf16le', [], ['UTF-8']],
])('.env: %s', (_what, encoding, names, warnings) => {
  const said = envFileWarnings(Buffer.from('LOCK_VERSION=1', encoding), names);

  expect(said).toEqual(warnings.map((each) => expect.stringContaining(each)));
});
