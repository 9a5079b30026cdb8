// What is made from the sources, or by the search, stands in the pages as it would be made now.

import { applyPatch } from 'diff';
import { expect, test } from 'vitest';
import { peerNames, titleOfPeer } from '../../loadtest/peers/peer.ts';
import { cellsShownIn, withCounterexamples } from '../../loadtest/prove/chapters.ts';
import { proveCell } from '../../prove/cell.ts';
import { stageDiff, withDiff } from '../../scripts/diff.ts';
import { withQuestions } from '../../scripts/questions.ts';
import { list, readText, stages } from './project-files.ts';

test.each(stages.slice(1))(
  '%s: its diff and its questions are up to date; if not: npm run diff -- --write',
  (stage) => {
    const chapter = readText(`docs/stages/${stage}.md`);

    expect(withQuestions(withDiff(chapter, stageDiff(stages.indexOf(stage))))).toBe(chapter);
  },
);

const prove = (text: string) => Promise.all(cellsShownIn(text).map((cell) => proveCell({ ...cell, seconds: 60 })));
const withOne = ['docs/stages', 'docs/beyond']
  .flatMap((folder) => list(folder).map((name) => `${folder}/${name}`))
  .filter((file) => file.endsWith('.md') && cellsShownIn(readText(file)).length > 0);

test.each(withOne)('%s: its counterexample is that of the search; if not: npm run prove -- --write', async (file) => {
  const chapter = readText(file);

  expect(withCounterexamples(chapter, await prove(chapter))).toBe(chapter);
});

test('docs/verdicts.md: it has each published lock, in the version that is installed', () => {
  const rows = [...readText('docs/verdicts.md').matchAll(/^\| \[(.+?)\]\(/gm)].map(([, title]) => title);

  expect(rows).toEqual(peerNames.map(titleOfPeer));
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
