import { describe, expect, test } from 'vitest';
import { texts } from '../../../live/texts/en.ts';
import { storyOf } from '../../../loadtest/commands/tracks.ts';
import { taughtVerdict } from '../../../loadtest/staircase/lookup.ts';
import { locks } from '../../../locks/index.ts';
import { hasBrowser } from '../../live/browser.ts';
import { headings, ownLivePage, play } from '../../live/live-page.ts';

const story = storyOf('locks', Object.keys(locks)).map(({ stage, drill }) => ({
  stage,
  drill: drill.name,
  taught: taughtVerdict(stage, drill.name),
}));
/** Each drill with each verdict that is taught of it, under the first stage that gives it. */
const cells = story.filter(
  (cell, at) => story.findIndex(({ drill, taught }) => drill === cell.drill && taught === cell.taught) === at,
);
/** How often a drill is played that the machine was too busy for: it comes out as unknown, and proves nothing. */
const TRIES = 3;

describe.skipIf(!hasBrowser)(
  'the story, played from the page: the verdicts of npm run drill (skipped where there is no Chromium)',
  () => {
    const live = ownLivePage({ args: ['--lease', '1000'] });

    test('no drill of the story is left out, and none without a verdict that is taught', () => {
      expect(new Set(cells.map(({ drill }) => drill))).toEqual(new Set(story.map(({ drill }) => drill)));
      expect(story.filter(({ taught }) => taught === null)).toEqual([]);
    });

    test.each(cells)('$stage, $drill', async ({ stage, drill, taught }) => {
      const page = await live.presenter();

      let said = await play(page, stage, drill);
      for (let tries = 1; tries < TRIES && said.startsWith('?'); tries += 1) said = await play(page, stage, drill);

      const { sign, word } = texts.verdict[taught ?? 'unknown'];
      expect(said).toContain(`${sign} ${word}, as taught`);
      expect(await headings(page)).toHaveLength(1);
    });
  },
);
