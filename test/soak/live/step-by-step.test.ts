import { describe, expect, test } from 'vitest';
import { hasBrowser } from '../../live/browser.ts';
import { begin, button, headings, ownLivePage, says } from '../../live/live-page.ts';

describe.skipIf(!hasBrowser)('step by step to the verdict (skipped where there is no Chromium)', () => {
  const live = ownLivePage({ args: ['--lease', '1000'] });

  test.each([
    ['5-owner-check', 'late-release', /The late release deleted the lock/],
    ['8-auto-renew', 'paused-process', /The stock is/],
  ])('%s, %s: the space bar alone goes on, and the room is told what happened', async (stage, drill, happened) => {
    const page = await live.presenter();
    const phone = await live.follower();
    await begin(page, stage, drill, 'Step by step');
    await says(page, 'Votes are open.');
    await phone.locator('.room-choice').first().click();
    // On a busy machine the drill is played once more, and stops once more.
    const waits = page.locator('.status.is-waiting');
    const verdict = page.locator('.verdict', { hasText: 'fails, as taught' });
    while (true) {
      await waits.or(verdict).first().waitFor();
      if ((await verdict.count()) > 0) break;
      await page.keyboard.press('Space');
    }
    await button(page, 'Play').waitFor();
    expect(await headings(page)).toHaveLength(1);
    await page.getByRole('tab', { name: 'Predict' }).click();
    await page.keyboard.press('r');
    await says(phone, /is right\.$|^You were right\.$/);
    await says(phone, happened);
  });

  test('played as it happens, nobody is asked', async () => {
    const page = await live.presenter();
    const phone = await live.follower();
    await begin(page, '5-owner-check', 'late-release');
    await says(page, /fails, as taught/);
    for (const on of [page, phone]) expect(await on.getByText(/What does it do when it arrives\?/).count()).toBe(0);
  });
});
