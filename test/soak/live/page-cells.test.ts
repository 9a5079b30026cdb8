import { describe, expect, test } from 'vitest';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { REAL_ONLY } from '../../../loadtest/virtual/play.ts';
import { strategies } from '../../../locks/index.ts';
import { isVirtual } from '../../../virtual/lock-service.ts';
import { hasBrowser } from '../../live/browser.ts';
import { ownPage, playBoth } from '../../live/page/open-page.ts';

describe.skipIf(!hasBrowser)('the lab in the page (skipped where there is no Chromium)', () => {
  const own = ownPage();

  test.each(Object.keys(strategies).filter(isVirtual))('%s: every cell is as in Node, byte for byte', async (stage) => {
    const page = await own.open();
    for (const { name } of drills.filter((drill) => REAL_ONLY[drill.name] === undefined)) {
      const { inPage, inNode } = await playBoth(page, stage, name);

      expect(inPage, name).toEqual(inNode);
    }
  });
});
