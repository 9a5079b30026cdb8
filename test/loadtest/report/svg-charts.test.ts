import { expect, test } from 'vitest';
import { barChart, evenAxis, stockChart } from '../../../loadtest/report/svg-charts.ts';

test.each([
  [
    [0, 3_000, 4_960],
    [0, 2_500, 5_000],
  ],
  [
    [0, -1_000, 780],
    [-1_000, 0, 1_000],
  ],
  [
    [0, 0],
    [0, 1],
  ],
  [
    [0, 4],
    [0, 5],
  ],
  [
    [-3, 8_000],
    [-5_000, 0, 5_000, 10_000],
  ],
])('an even axis holds %j, and is marked at few round numbers', (values, ticks) => {
  const axis = evenAxis(values);
  expect(axis.ticks).toEqual(ticks);
  expect(ticks.map(axis.shareOf)).toEqual(ticks.map((_, i) => i / (ticks.length - 1)));
});

test('bars: each is as long as its value, from zero to its side; the line over it has its range; a long name is cut', () => {
  const bar = (value: number) => ({ value, kind: 'final' as const });
  const { markup } = barChart('Units', [
    { name: 'a', bars: [bar(-100), bar(200)] },
    { name: 'a name of more than 23 letters', bars: [{ ...bar(200), range: { min: 100, max: 300 } }] },
  ]);
  const bars = [...markup.matchAll(/<rect .*?x="(.*?)".*width="(.*?)"/g)];
  const [[from, until] = [], ...right] = bars.map(([, x, width]) => [Number(x), Number(x) + Number(width)]);
  const range = markup
    .match(/class="range" d="M(\S+) .*H([\d.]+)m/)
    ?.slice(1)
    .map(Number);
  const ten = ((until ?? 0) - (from ?? 0)) / 10;
  const tens = [...right, range].map((ends) => ends?.map((x) => Math.round((x - (until ?? 0)) / ten)));

  expect(tens).toEqual([
    [0, 20],
    [0, 20],
    [10, 30],
  ]);
  expect(markup).toContain('<desc>a: −100 and 200. a name of more than 23 letters: 200.</desc>');
  expect(markup).toContain('>a name of more than 23…</text>');
});

test.each([
  [1_000, ['stock final', 'stock expected']],
  [2_000, ['gap', 'stock wrong', 'stock expected']],
])('stock: %d instead of 1,000 is drawn as %j', (stock, lines) => {
  const points = [
    { ms: 0, stock: 2_000, expected: 2_000 },
    { ms: 9, stock, expected: 1_000 },
  ];
  const { markup } = stockChart('Stock', points, evenAxis([1_000, 2_000]));
  expect([...markup.matchAll(/path class="((?:gap|stock).*?)"/g)].map(([, line]) => line)).toEqual(lines);
});
