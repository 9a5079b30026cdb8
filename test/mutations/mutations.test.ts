import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeTempDir, projectDir } from '../../scripts/stack/parts.ts';
import { cleanUpLater } from '../clean-up.ts';
import { ownCommands } from '../loadtest/commands/command-under-test.ts';
import { catalogue } from './catalogue.ts';
import { type Mutation, mutate } from './mutation.ts';
import { tryMutations, whyStale } from './try-mutations.ts';

const SUM = 'export const sum = (a: number, b: number) => a + b;\nexport const isZero = (a: number) => a === 0;\n';

/** A project with a source file and three test files, of which one always fails. */
function makeProject() {
  const { dir, remove } = makeTempDir();
  cleanUpLater(remove);
  mkdirSync(join(dir, 'test'));
  symlinkSync(join(projectDir, 'node_modules'), join(dir, 'node_modules'));
  writeFileSync(join(dir, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(dir, 'sum.ts'), SUM);
  const testFile = (name: string, expectation: string) => {
    const imports = "import { expect, test } from 'vitest';\nimport { isZero, sum } from '../sum.ts';\n";
    writeFileSync(join(dir, `test/${name}.test.ts`), `${imports}test('${name}: it adds up', () => ${expectation});\n`);
  };
  testFile('strict', 'expect([sum(1, 2), isZero(1)]).toEqual([3, false])');
  testFile('idle', 'expect([sum, isZero]).toHaveLength(2)');
  testFile('wrong', 'expect(sum(1, 2)).toBe(4)');
  return dir;
}

const minus: Mutation = {
  name: 'minus',
  file: 'sum.ts',
  find: 'a + b',
  replace: 'a - b',
  why: 'It subtracts.',
  tests: ['test/strict.test.ts'],
};

describe('mutations: each is tried', () => {
  const project = makeProject();
  const cases: [what: string, mutation: Mutation, outcome: string, detail: RegExp][] = [
    ['a test fails', minus, 'caught', /^strict: it adds up$/],
    ['no test fails', { ...minus, tests: ['test/idle.test.ts'] }, 'survived', /^1 passed with it$/],
    ['its tests fail anyway', { ...minus, tests: ['test/wrong.test.ts'] }, 'fails-anyway', /^wrong: it adds up$/],
    ['no test has its title', { ...minus, title: 'multiplies' }, 'fails-anyway', /^No test has this title/],
    ['the file can’t be read with it', { ...minus, replace: 'a +' }, 'broken', /^test\/strict\.test\.ts: /],
    ['its text is gone', { ...minus, find: 'a * b' }, 'stale', /^sum\.ts does not have the text "a \* b"\.$/],
    ['its text is there twice', { ...minus, find: 'export' }, 'stale', /^sum\.ts has the text "export" 2 times\.$/],
    ['its test is gone', { ...minus, tests: ['test/gone.test.ts'] }, 'stale', /^There is no test\/gone\.test\.ts\.$/],
  ];

  test('together, and told one by one', { timeout: 600_000 }, async () => {
    const told: Mutation[] = [];
    const tried = await tryMutations(
      project,
      cases.map(([, mutation]) => mutation),
      { signal: new AbortController().signal, onTried: ({ mutation }) => told.push(mutation) },
    );

    expect(tried.map(({ outcome, detail }, i) => [cases[i]?.[0], outcome, detail])).toEqual(
      cases.map(([what, , outcome, detail]) => [what, outcome, expect.stringMatching(detail)]),
    );
    expect(told).toHaveLength(cases.length);
    expect(readFileSync(join(project, 'sum.ts'), 'utf8')).toBe(SUM);
    expect(readdirSync(project).toSorted()).toEqual(['node_modules', 'package.json', 'sum.ts', 'test']);
  });
});

test('mutations: the text is replaced as it stands, whatever signs it has', () => {
  expect(mutate('a $& b', { file: 'a.ts', find: '$&', replace: '$1 $$' })).toBe('a $1 $$ b');
});

test('mutations: each has a name of its own, a reason, and changes its file', () => {
  expect(new Set(catalogue.map(({ name }) => name)).size).toBe(catalogue.length);
  expect(catalogue.length).toBeGreaterThanOrEqual(40);
  for (const { name, find, replace, why, tests } of catalogue) {
    expect({ name, isKebab: /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) }).toEqual({ name, isKebab: true });
    expect({ name, changes: find !== replace, tests: tests.length > 0 }).toEqual({ name, changes: true, tests: true });
    expect({ name, why }).toEqual({ name, why: expect.stringMatching(/^\S.*\.$/) });
  }
});

describe('npm run mutations', () => {
  const start = ownCommands('test/mutations/mutations.ts');
  const mutations = (...args: string[]) => start('test/mutations/mutations.ts', args);
  const [first] = catalogue.filter((mutation) => whyStale(projectDir, mutation) === undefined);

  test('one that is caught: it ends with 0, prints JSON and nothing else', { timeout: 600_000 }, async () => {
    const command = mutations('--only', 'starved-waiters-forgotten', '--json');

    expect(await command.ended).toEqual({ code: 0, signal: null });
    expect(JSON.parse(command.stdout())).toMatchObject({
      mutations: [{ name: 'starved-waiters-forgotten', outcome: 'caught', file: 'loadtest/bench/figures.ts' }],
    });
    expect(command.stderr()).toBe('');
  });

  test('Ctrl-C: it ends with 2, and leaves nothing behind', { timeout: 300_000 }, async () => {
    const command = mutations('--only', first?.name ?? '');
    await command.prints(/1 mutation\./);
    await expect.poll(() => command.leftovers().join('\n'), { timeout: 120_000 }).toContain('vitest.mjs run');

    command.child.kill('SIGINT');

    expect(await command.ended).toEqual({ code: 2, signal: null });
    expect(command.stderr()).toBe('The run could not be made: it was interrupted.\n');
  });

  test('a name that there is not: one line, and 2', async () => {
    const command = mutations('--only', 'no-such-bug');

    expect(await command.ended).toEqual({ code: 2, signal: null });
    expect(command.stderr()).toMatch(/^error: .*There is no mutation no-such-bug\. --list tells them\.\n$/);
  });

  test('--list: each with its file and what is wrong with it', async () => {
    const command = mutations('--list');
    await command.ended;

    for (const { name, file, why } of catalogue) expect(command.stdout()).toContain(`${name}\n  ${file}: ${why}\n`);
  });
});
