import { expect, test } from 'vitest';
import { lockStaircase } from '../../loadtest/staircase/locks.ts';
import * as registry from '../../locks/index.ts';
import { exists, list, readText } from './project-files.ts';

const names = Object.keys(registry.beyond);
const ways = ['createLock', 'createMultiLock', 'createReadLock', 'takeOne'];
const lines = (name: string) => readText(`locks/beyond/${name}.ts`).trimEnd().split('\n');

test('beyond: every strategy has a file under its name', () => {
  expect(names.filter((name) => !exists(`locks/beyond/${name}.ts`))).toEqual([]);
});

test.each(names)('%s: opens with its name, the problem, the change, and what it leaves', (name) => {
  const [title, problem, change, leaves, source] = lines(name);

  expect(title).toBe(`// Beyond · ${name}`);
  expect(problem).toMatch(/^\/\/ Problem: [^ ].*\.$/);
  expect(change).toMatch(/^\/\/ Change: {2}[^ ].*\.$/);
  expect(leaves).toMatch(/^\/\/ Leaves: {2}[^ ].*\.$/);
  expect(source).toMatch(/^$|^\/\/ Source: {2}[^ ]/);
});

test.each(names)('%s: exports what the registry has, and nothing else that is a strategy', async (name) => {
  const module = await import(`../../locks/beyond/${name}.ts`);
  const strategy = registry.beyond[name];

  const own = Object.keys(module).filter((exported) => ways.includes(exported));
  expect(own).toEqual(ways.filter((way) => way in (strategy ?? {})));
  expect(strategy).toMatchObject(Object.fromEntries(own.map((way) => [way, module[way]])));
});

test.each(names)('%s: is short enough to be read aloud, and has a test', (name) => {
  expect(lines(name).length).toBeLessThanOrEqual(130);
  const tests = list('test/locks/beyond').filter((file) => file.endsWith('.test.ts'));
  const isOfIt = (file: string) =>
    file === `${name}.test.ts` || readText(`test/locks/beyond/${file}`).includes(`'${name}'`);
  expect(tests.some(isOfIt)).toBe(true);
});

test.each(names)('%s: has a chapter, which begins and ends with the words of the file', (name) => {
  const [, problem, , leaves] = lines(name);
  const page = `docs/beyond/${name}.md`;
  const quotes = exists(page) ? [...readText(page).matchAll(/^> (.+)$/gm)].map(([, quote]) => quote) : [];

  expect(exists(page)).toBe(true);
  expect(quotes).toEqual([problem?.replace('// Problem: ', ''), leaves?.replace('// Leaves:  ', '')]);
});

test('chapters: every one beyond is that of a strategy', () => {
  const chapters = list('docs/beyond').map((file) => file.replace('.md', ''));
  expect(chapters.filter((chapter) => !names.includes(chapter) && chapter !== 'README')).toEqual([]);
});

test.each(names)('%s: the staircase says of every drill that it holds, fails or has nothing to break', (name) => {
  const { signs = {} } = lockStaircase.rows[name] ?? {};
  const open = Object.keys(signs).filter((drill) => !/^[✔✘–]$/.test(signs[drill] ?? ''));

  // The only server whose clock can be set has no replica. A branch has the row of its stage, whatever stands there.
  if (name === 'delete-if-equal') expect(signs).toEqual(lockStaircase.rows['6-lua-release']?.signs);
  else expect(open).toEqual(name === 'replicated' ? ['clock-jump'] : []);
});

test.each([
  ['4', '4-ttl'],
  ['fenced', 'fenced'],
  ['redis', '8-auto-renew'],
])('registry: LOCK_VERSION=%s is %s', (version, name) => {
  expect(registry.lockName(version)).toBe(name);
});

test('registry: an unknown name lists the known ones', () => {
  for (const name of Object.keys(registry.strategies)) expect(registry.knownVersions).toContain(name);
  expect(registry.lockName('no-such-lock')).toBeUndefined();
});
