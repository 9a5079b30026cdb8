import { expect, test } from 'vitest';
import { withoutPassword } from '../../../services/inventory/setting-error.ts';

test.each([
  ['redis://:s3cret@h:1/2', 'redis://:***@h:1/2'],
  ['rediss+sentinel://user:s3/c:r@t@h:1,i:2/m', 'rediss+sentinel://user:***@h:1,i:2/m'],
  ['redis://h:1?password=s3cret&db=2', 'redis://h:1?password=***&db=2'],
  ['A=redis://:s3cret@h:1 B=mysql://root@h:2/x', 'A=redis://:***@h:1 B=mysql://root@h:2/x'],
  ['redis://[::1]:6379, http://127.0.0.1:8080', 'redis://[::1]:6379, http://127.0.0.1:8080'],
])('%s', (text, shown) => {
  expect(withoutPassword(text)).toBe(shown);
});
