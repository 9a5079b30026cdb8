import { expect, test } from 'vitest';
import { exists, list, listDeep, readText } from './project-files.ts';

const scripts = list('lua').map((file) => file.replace('.lua', ''));
const read = listDeep('locks')
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => [...readText(file).matchAll(/readScript\('(.+?)'\)/g)].map(([, name]) => name as string));

test('lua: every script is read by a lock, and every script read exists', () => {
  expect([...new Set(read)].toSorted()).toEqual(scripts);
});

test.each(scripts)('lua: %s is a verb phrase and has a test under its name', (script) => {
  expect(script).toMatch(/^[a-z]+(-[a-z]+)+$/);
  expect(exists(`test/lua/${script}.test.ts`)).toBe(true);
});
