import { expect, test } from 'vitest';
import { scenario } from '../../../loadtest/scenarios/index.ts';
import { asDrill } from '../../../loadtest/scenarios/scenario.ts';
import { playDrill } from '../../../loadtest/worlds/simulated/play.ts';

test.each([
  ['crossed-write', 'fenced-writes'],
  ['long-sale', '7-reentrant'],
])(
  '%s under %s: one of two writes in doubt is lost, and the stock is said to be too high by one',
  async (drill, lock) => {
    const { outcome } = await playDrill(asDrill(scenario(drill)), lock);
    const [, stock, atMost] = /The stock is (\d+), but should be at most (\d+)/.exec(outcome.reasons.join(' ')) ?? [];

    expect(Number(stock) - Number(atMost)).toBe(1);
  },
);
