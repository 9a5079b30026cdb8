import { expect, test } from 'vitest';
import { exists, list, listDeep, readText } from './project-files.ts';

const scripts = list('lua').map((file) => file.replace('.lua', ''));
const read = [...listDeep('locks'), ...listDeep('services')]
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => [...readText(file).matchAll(/readScript\('(.+?)'\)/g)].map(([, name]) => name as string));

test('lua: every script is read by a lock or the service, and every script read exists', () => {
  expect([...new Set(read)].toSorted()).toEqual(scripts);
});

test.each(scripts)('lua: %s is a verb phrase and has a test under its name', (script) => {
  expect(script).toMatch(/^[a-z]+(-[a-z]+)+$/);
  expect(exists(`test/lua/${script}.test.ts`)).toBe(true);
});

const { scripts: npmScripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
const commands = Object.keys(npmScripts).filter((name) => !(name.startsWith('pre') && npmScripts[name.slice(3)]));
const pages = listDeep()
  .filter((file) => file.endsWith('.md'))
  .map(readText)
  .join();

test.each(commands)(
  'npm: %s installs the packages first, runs a file that exists, and a page says how to call it',
  (name) => {
    expect(npmScripts[`pre${name}`]).toMatch(/^sh scripts\/packages\.sh( |$)/);
    const files = [...(npmScripts[name] ?? '').matchAll(/--import tsx (\S+)/g)].map(([, file]) => file as string);
    for (const file of files) expect({ file, exists: exists(file) }).toEqual({ file, exists: true });
    expect(pages).toContain(/^(start|test)$/.test(name) ? `npm ${name}` : `npm run ${name}`);
  },
);
