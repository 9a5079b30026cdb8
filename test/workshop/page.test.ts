import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { violations } from '../soak/workshop/violations.ts';
import { hasBrowser } from './browser.ts';
import { button, ownLivePage } from './live-page.ts';

const FOLLOWERS = 2;

describe.skipIf(!hasBrowser)('the live page, in a browser (skipped where there is no Chromium)', () => {
  // A lease that outlasts a step of a machine that is busy.
  const live = ownLivePage('--lease', '3000');

  test('the address without its token shows the lesson, and says that there is no server', async () => {
    const [bare = ''] = live.address().split('#');
    const page = await live.open(bare);
    await button(page, 'The stack').click();

    await page.getByText(/This page is not connected/).waitFor();
    expect(await page.getByRole('button', { name: 'Free play' }).isEnabled()).toBe(false);
  });

  test('followers are asked, and vote; the scenario is played on real servers; then they see it, and what was right', async () => {
    const page = await live.presenter();
    const phones = await Promise.all(Array.from({ length: FOLLOWERS }, () => live.follower()));
    await button(page, 'The stack').click();
    await page.getByRole('combobox').first().selectOption('4-ttl');
    await page.getByRole('combobox').nth(1).selectOption('slow-holder');
    await button(page, 'Ask the room').press('Enter');
    await button(page, 'Close the votes').and(page.locator(':focus')).waitFor();
    for (const phone of phones) await phone.locator('.ballot button').first().click();
    await page.getByText(`Votes: ${FOLLOWERS} of ${FOLLOWERS}`).waitFor();
    // The wall has the letters of the phones, and says where those who come late join.
    const answersOn = async (page: Page, each: string) =>
      (await page.locator(each).allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
    const onPhone = await answersOn(phones[0] as Page, '.ballot button');
    expect(await answersOn(page, '.votes li')).toEqual(onPhone);
    expect(onPhone.map((text) => text.slice(0, 2)).slice(0, 3)).toEqual(['1 ', '2 ', '3 ']);
    expect(await page.locator('.asked .address').textContent()).toContain(live.roomAddress());
    // Nobody is to follow the crowd.
    expect(await page.locator('.votes .count').count()).toBe(0);

    await button(page, 'Play on the real servers').click();
    for (const phone of phones) await phone.getByText('The votes are closed.').waitFor();
    await page.locator('.found', { hasText: /\w/ }).waitFor();
    await button(page, 'Show the answer').click();
    for (const phone of phones) {
      await phone.locator('.is-right').waitFor();
      await phone.locator('.votes li', { hasText: 'Your vote' }).first().waitFor();
      await phone.locator('.real svg.picture').waitFor();
      expect(await phone.getByRole('button', { name: /real servers|Free play/ }).count()).toBe(0);
    }
    await phones[0]?.getByRole('button', { name: '中文' }).click();
    expect(await phones[0]?.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
    expect(await violations(page)).toEqual([]);
  });

  test.each(['en-US', 'zh-CN'])(
    'beside a step the views and the votes are in sight at 1280 × 720: %s',
    async (locale) => {
      const page = await live.open(live.address(), { locale });
      const ask = page.locator('.asked .bar button').first();
      const isInSight = () =>
        page.evaluate(() => {
          const seen = [...document.querySelectorAll('nav > button, .votes *')].map((each) =>
            each.getBoundingClientRect(),
          );
          return seen.every(({ right, bottom }) => right <= innerWidth && bottom <= innerHeight);
        });
      await page.locator('.question input').first().check();
      await ask.click();
      await page.locator('.asked .address').waitFor();
      await ask.click();
      await page.locator('.votes meter').first().waitFor();
      expect(await isInSight()).toBe(true);
      await ask.click();
      await page.locator('.votes .is-right').waitFor();
      expect(await isInSight()).toBe(true);
      await ask.click();
    },
  );

  test('free play: a held sale keeps the other node out; what can not be done says why; it is stopped', async () => {
    const page = await live.presenter();
    const press = (part: string, name: string) =>
      page.getByRole('group', { name: part, exact: true }).getByRole('button', { name, exact: true }).click();
    await button(page, 'The stack').click();
    await page.getByRole('combobox').first().selectOption('8-auto-renew');
    await button(page, 'Free play').click();

    await press('node-1', 'Hold a sale');
    await page.locator('.real svg.picture', { hasText: /read ?1000/ }).waitFor();
    await press('node-2', 'Sell');
    await page.locator('.real svg.picture', { hasText: /node-2 ?B/ }).waitFor();
    await press('node-1', 'Let the sale continue');
    await page.locator('.real svg.picture', { hasText: '998' }).waitFor();
    await press('redis', 'Fail over');
    await page.getByText(/No replica has been cut off yet/).waitFor();
    await button(page, 'Stop').click();
    await page.getByText('Ready.').waitFor();
    expect(await violations(page)).toEqual([]);
  });
});
