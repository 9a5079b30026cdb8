import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { hasBrowser } from '../browser.ts';
import { ownPage, playBoth, searchBoth } from './open-page.ts';

const cells = [
  ['0-none', 'rush'],
  ['8-auto-renew', 'blocked-loop'],
  ['cohort', 'late-release'],
] as const;
const searched = [
  ['4-ttl', 'slow-holder'],
  ['6-lua-release', 'late-release'],
] as const;
const own = hasBrowser ? ownPage() : undefined;

// All cells: test/soak/workshop/page-cells.test.ts.
test.skipIf(!own)(
  'the lab in the page says of a cell what Node says, byte for byte, and counts what Node counts',
  async () => {
    const page = (await own?.open()) as Page;
    for (const [stage, drill] of cells) {
      const { inPage, inNode } = await playBoth(page, stage, drill);
      expect(inPage, `${stage}, ${drill}`).toEqual(inNode);
    }
    for (const [stage, scope] of searched) {
      const { inPage, inNode } = await searchBoth(page, stage, scope);
      expect(inPage, `${stage}, ${scope}`).toEqual(inNode);
    }
  },
);
