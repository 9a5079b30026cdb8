import { expect, test } from 'vitest';
import { stageDiff } from '../../scripts/diff.ts';
import { readText, stages } from './project-files.ts';

const chapters = stages.slice(1).map((stage) => `docs/stages/${stage}.md`);

test.each(chapters)('%s: has one diff block, which is the diff of its stage word for word', (chapter) => {
  const blocks = [...readText(chapter).matchAll(/^```diff\n(.*?)^```$/gms)].map(([, diff]) => diff);

  // `npm run diff -- --write` brings the chapters up to date.
  expect(blocks).toEqual([stageDiff(chapters.indexOf(chapter) + 1)]);
});
