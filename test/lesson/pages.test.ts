// What is made from the sources, or by the search, stands in the pages as it would be made now.

import { join } from 'node:path';
import { applyPatch } from 'diff';
import { expect, test } from 'vitest';
import { peerNames, rowOfPeer } from '../../loadtest/peers/peer.ts';
import { provableLocks } from '../../loadtest/prove/plan.ts';
import { isInBuckets, lockName } from '../../locks/index.ts';
import { proveCell } from '../../prove/cell.ts';
import { numbered } from '../../prove/words.ts';
import { stageDiff } from '../../scripts/diff.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import { chapterNow } from '../../teaching/chapter.ts';
import { list, listDeep, readText, stages } from './project-files.ts';

const isMade = /<!-- (questions|sequence|transcript): |^```diff$/m;
const made = listDeep('docs').filter((file) => isMade.test(readText(file)));

test.each(made)('%s: what is made of the sources is up to date; if not: npm run chapters', async (page) => {
  await expect(chapterNow(page)).resolves.toBe(readText(page));
});

/** A counterexample below the command that finds it: of a built-in lock, or of a file that is wrong on purpose. */
const counterexample = /^`npm run prove -- (?:--stage )?(\S+) --scope (\S+) --processes 2`\n\n```text\n(.*?)\n```$/gms;
const shown = ['docs/stages', 'docs/beyond'].flatMap((folder) =>
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

test('docs/verdicts.md: it has each published lock, in the version that is installed', () => {
  const [, columns = ''] = /^\| check +\|(.+)\|$/m.exec(readText('docs/verdicts.md')) ?? [];

  expect(columns.split('|').map((name) => name.trim())).toEqual(peerNames.map(rowOfPeer));
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

test('docs/drills.md: the scenario that it shows whole is the file', () => {
  expect(readText('docs/drills.md')).toContain(`\`\`\`text\n${readText('loadtest/scenarios/late-release.txt')}\`\`\``);
});
