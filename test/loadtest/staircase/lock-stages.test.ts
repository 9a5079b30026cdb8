import { expect, test } from 'vitest';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { lockStaircase } from '../../../loadtest/staircase/lock-stages.ts';
import { locks, strategies } from '../../../locks/index.ts';
import { readText } from '../../lesson/project-files.ts';

const { columns, rows } = lockStaircase;

test('locks: the columns are the drills and the rows the strategies, in their order', () => {
  expect(Object.keys(columns)).toEqual(drills.map(({ name }) => name));
  expect(Object.keys(rows)).toEqual(Object.keys(strategies));
});

/** What a stage gives up that those before it held, for what it fixes. Its chapter says so. */
const givenUp: Record<string, string> = { 'hung-holder': '8-auto-renew', 'forgotten-release': '8-auto-renew' };

test.each(Object.keys(columns))('%s: from stage to stage, what is expected to hold goes on to hold', (drill) => {
  const stages = Object.keys(locks);
  const stage = givenUp[drill];
  const signs = stages.map((each) => rows[each]?.signs[drill]).join('');
  const kept = stage === undefined ? signs : signs.slice(0, stages.indexOf(stage));
  expect(kept).toMatch(/^–*[·✘]*✔*$/);
  if (stage === undefined) return;
  expect(kept).toMatch(/✔$/);
  expect(signs.slice(kept.length)).toMatch(/^✘+$/);
  expect(readText(`docs/learn/${stage}.md`)).toContain(drill);
});
