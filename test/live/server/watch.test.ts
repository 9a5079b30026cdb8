import { expect, test } from 'vitest';
import { observeTarget } from '../../../live/server/observed-target.ts';
import { watchStack } from '../../../live/server/watch.ts';
import { sendSale } from '../../../loadtest/harness/single-sale.ts';
import type { TargetNode } from '../../../loadtest/harness/target.ts';
import { createNews } from './news.ts';
import { ownTarget } from './own-target.ts';

const STAGE = '6-lua-release';
const target = ownTarget();

async function sell(node: TargetNode, count = 1) {
  for (let left = count; left > 0; left -= 1) expect((await sendSale(node).end).outcome).toBe('sold');
}

test('watch: a stock that was there counts from what it is; the counts outlive a process that dies, and begin again with a reset', async () => {
  const closing = new AbortController();
  const news = createNews();
  const observed = observeTarget(target(), () => watch.changed());
  const [first, second] = observed.target.nodes as [TargetNode, TargetNode];
  for (const node of [first, second]) await node.setLock(STAGE);
  await target().nodes[0]?.setStock(101);
  await sell(first);
  const { signal } = closing;
  const watch = watchStack({ target: observed.target, observed, stage: STAGE, signal, onChange: news.tell });
  /** Resolves when this is shown. */
  const shows = (figures: object, actual: number, expected = actual) =>
    news.until(() => {
      const { figures: seen, stock } = watch.view();
      const isLike = JSON.stringify({ ...seen, ...figures }) === JSON.stringify(seen);
      return isLike && stock?.actual === actual && stock.expected === expected;
    });

  try {
    await sell(first, 2);
    await sell(second, 3);
    await shows({ sold: 6, refused: 0, inDoubt: 0, lost: 0 }, 95);

    await first.process?.kill();
    await sell(second);
    await shows({ sold: 7 }, 94);
    await first.process?.start();
    await first.setLock(STAGE);
    await sell(first);
    await shows({ sold: 8 }, 93);

    // Three units come from nowhere, as if three sales were undone.
    await target().nodes[0]?.setStock(96);
    await sell(second);
    await shows({ sold: 9, lost: 3 }, 95, 92);

    // The stock counts from where it is set, the sales from where they are forgotten.
    await first.setStock(50);
    await shows({ sold: 9, lost: 0 }, 50);
    await first.reset();
    await second.reset();
    await sell(second, 2);
    await shows({ sold: 2, refused: 0, inDoubt: 0, lost: 0 }, 48);
  } finally {
    closing.abort();
  }
});
