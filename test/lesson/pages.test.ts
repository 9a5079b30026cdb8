// What is made from the sources, or by the search, stands in the pages as it would be made now.

import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { applyPatch } from 'diff';
import { expect, test } from 'vitest';
import { runCheck } from '../../loadtest/conformance/conformance.ts';
import { cellLines } from '../../loadtest/prove/matrix.ts';
import { provableLocks } from '../../loadtest/prove/plan.ts';
import { isInBuckets, lockName } from '../../locks/index.ts';
import { proveCell } from '../../prove/cell.ts';
import { scopes } from '../../prove/scopes.ts';
import { numbered } from '../../prove/words.ts';
import { reference } from '../../scripts/reference/index.ts';
import { lockNamed } from '../../simulation/lock-service.ts';
import { projectDir } from '../../stack/parts.ts';
import { chapterNow } from '../../workshop/teaching/chapter.ts';
import { stageDiff } from '../../workshop/teaching/stage-diff.ts';
import { list, listDeep, readText, stages } from './project-files.ts';

const isMade = /<!-- (questions|sequence|transcript|reference): |^```diff$/m;
const made = listDeep('docs').filter((file) => isMade.test(readText(file)));

test.each(made)('%s: what is made of the sources is up to date; if not: npm run docs', async (page) => {
  await expect(chapterNow(page, reference)).resolves.toBe(readText(page));
});

/** A counterexample below the command that finds it: of a built-in lock, or of a file that is wrong on purpose. */
const counterexample = /^`npm run prove -- (?:--stage )?(\S+) --scope (\S+) --processes 2`\n\n```text\n(.*?)\n```$/gms;
const shown = ['docs/learn', 'docs/beyond', 'docs/explanation'].flatMap((folder) =>
  list(folder).flatMap((name) =>
    [...readText(`${folder}/${name}`).matchAll(counterexample)].map(([, lock = '', scope = '', text]) => ({
      ...{ chapter: `${folder}/${name}`, lock, scope, text },
    })),
  ),
);

test.each(shown)('$chapter: the counterexample of $lock in $scope is that of the search', async (block) => {
  const { lock, scope, text } = block;
  const own = { stage: lock, file: join(projectDir, lock), masters: 0 };
  const place = lock.endsWith('.ts') ? own : provableLocks.find(({ stage }) => stage === lockName(lock));
  const cell = { ...(place ?? own), processes: 2, sales: 1, budget: {}, scope };
  const { reason, counterexample = [] } = await proveCell({ ...cell, isInBuckets: isInBuckets(cell.stage) });

  expect([reason, '', ...numbered(counterexample)].join('\n')).toBe(text);
});

test('docs/learn/workshop.md: the steps that it explains are those of the search', async () => {
  const task = {
    stage: '04-ttl',
    file: join(projectDir, 'workshop/exercises/04-ttl/lock.ts'),
    masters: 0,
    sales: 1,
    budget: {},
  };
  const cell = await proveCell({ ...task, scope: 'crashed-holder', processes: 2 });
  const [, told = ''] = /^```text\n( +04-ttl .*?)^```/ms.exec(readText('docs/learn/workshop.md')) ?? [];

  const lines = cellLines(cell).map((line) => `  ${stripVTControlCharacters(line)}\n`);
  expect(lines.join('').slice(0, told.length)).toBe(told);
  expect(told).not.toBe('');
});

test('docs/how-to/grade.md: the answer that it shows is that of a release in two commands', async () => {
  const { reasons, evidence } = await runCheck('contract-late-release', lockNamed('5-owner-check'));
  const [, why = '', steps = ''] =
    /^my-lock is broken: ([^\n]+)\n(.*?)^```/ms.exec(readText('docs/how-to/grade.md')) ?? [];
  // An external lock has a client of its own, which takes its time.
  const timeless = (texts: string[]) => texts.map((text) => text.replace(/^ *[\d.]+ s /, ''));

  expect([why]).toEqual(reasons);
  expect(timeless(evidence)).toEqual(expect.arrayContaining(timeless(steps.match(/^ +[\d.]+ s .+/gm) ?? [''])));
});

test('docs/explanation/model-checking.md: its table has every scope', () => {
  const page = readText('docs/explanation/model-checking.md');

  expect(scopes.map(({ name }) => name).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test('docs/decisions/12-libraries.md: it has each package, and how many they are', () => {
  const page = readText('docs/decisions/12-libraries.md');
  const { dependencies, devDependencies } = JSON.parse(readText('package.json'));
  const names = Object.keys({ ...dependencies, ...devDependencies });
  const cells = [...page.matchAll(/^\| ([^|]+?) +\|/gm)].flatMap(([, cell = '']) =>
    cell.replace(/`| \d+/g, '').split(', '),
  );
  const isNamed = (name: string) =>
    cells.some((cell) => `/${name}`.endsWith(`/${cell}`) || name.startsWith(cell.replace('*', '')));

  expect(names.filter((name) => !isNamed(name))).toEqual([]);
  expect(page).toContain(`${names.length} direct dependencies`);
});

test('diff: it turns the stage before into this one', () => {
  for (const [at, stage] of stages.entries()) {
    if (at === 0) continue;
    expect(applyPatch(readText(`locks/${stages[at - 1]}.ts`), stageDiff(at))).toBe(readText(`locks/${stage}.ts`));
  }
});
