import { expect, test } from 'vitest';
import { listDeep, readText } from './project-files.ts';
import { isExempt, luckIn } from './tidy.ts';

const files = listDeep('test').filter((file) => file.endsWith('.ts') && !isExempt(file));

test('tidy: no test is a matter of luck', () => {
  expect(files.flatMap((file) => luckIn(file, readText(file)))).toEqual([]);
});

test.each([
  'await new Promise((go) => setTimeout(go, 20));',
  'expect(ended - began).toBeLessThan(atMost(500));',
  "server.listen(8080, '127.0.0.1');",
  'fc.assert(fc.property(fc.string(), isRight), { numRuns: 200 });',
  "describe.skip('a', () => {});",
  'await vi.waitFor(() => expect(done).toBe(true));',
])('tidy: it finds %s', (text) => {
  expect(luckIn('a.ts', text)).toHaveLength(1);
});
