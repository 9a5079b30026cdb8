import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { orderPagesInChinese } from '../../../loadtest/narration/order-pages.zh.ts';

const folder = new URL('../../../loadtest/orders/', import.meta.url);

test('orders: what a page says of a verdict is there in Chinese', () => {
  const pages = readdirSync(folder).filter((name) => name.endsWith('.txt'));
  const saysOf = (page: string) => [...readFileSync(new URL(page, folder), 'utf8').matchAll(/^(if [\w ]+): /gm)];
  const said = pages.flatMap((page) => saysOf(page).map(([, ending]) => `${page.slice(0, -4)}: ${ending}`));
  const inChinese = Object.entries(orderPagesInChinese).flatMap(([page, words]) =>
    Object.keys(words).map((ending) => `${page}: ${ending}`),
  );

  expect(inChinese.toSorted()).toEqual(said.toSorted());
});
