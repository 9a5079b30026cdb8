import { expect, test } from 'vitest';
import { observeTarget } from '../../../live/server/observed-target.ts';
import { type Watch, watchStack } from '../../../live/server/watch.ts';
import { sendSale } from '../../../loadtest/harness/single-sale.ts';
import type { TargetNode } from '../../../loadtest/harness/target.ts';
import { createNews } from './news.ts';
import { ownTarget } from './own-target.ts';

// What is seen of drills and of rushes: test/soak/live/server/watch.test.ts.
const STAGE = '6-lua-release';
const target = ownTarget();

interface Seen {
  first: TargetNode;
  second: TargetNode;
  watch: Watch;
  /** Resolves when the view is like that. */
  shows: (figures: object, stock: object) => Promise<void>;
}

/** Watches a stack while `act` does something to it. */
async function watching(act: (seen: Seen) => Promise<void>) {
  const closing = new AbortController();
  const news = createNews();
  const observed = observeTarget(target(), () => watch.changed());
  const watch = watchStack({
    target: observed.target,
    observed,
    stage: STAGE,
    signal: closing.signal,
    onChange: news.tell,
  });
  const isLike = (seen: object | null, wanted: object) =>
    seen !== null && JSON.stringify({ ...seen, ...wanted }) === JSON.stringify(seen);
  const shows = (figures: object, stock: object) =>
    news.until(() => isLike(watch.view().figures, figures) && isLike(watch.view().stock, stock));
  const [first, second] = observed.target.nodes as [TargetNode, TargetNode];
  try {
    await act({ first, second, watch, shows });
  } finally {
    closing.abort();
    await first.clear();
    for (const node of [first, second]) await node.reset();
  }
}

async function sell(node: TargetNode, count = 1) {
  for (let left = count; left > 0; left -= 1) expect((await sendSale(node).end).outcome).toBe('sold');
}

test('watch: a stock that was there before counts from what it is', async () => {
  const [node] = target().nodes as [TargetNode];
  await node.setLock(STAGE);
  await node.setStock(30);
  await sell(node);

  await watching(async ({ shows }) => {
    await shows({}, { actual: 29, expected: 29 });
    await sell(node);
    await shows({ sold: 2, lost: 0 }, { actual: 28, expected: 28 });
  });
});

test('watch: the counts outlive a process that dies, and begin again with a reset', () =>
  watching(async ({ first, second, shows }) => {
    for (const node of [first, second]) await node.setLock(STAGE);
    await first.setStock(100);
    await sell(first, 5);
    await sell(second, 3);
    await shows({ sold: 8, refused: 0, inDoubt: 0, lost: 0 }, { actual: 92, expected: 92 });

    await first.process?.kill();
    await sell(second);
    await shows({ sold: 9 }, { actual: 91, expected: 91 });
    await first.process?.start();
    await first.setLock(STAGE);
    await sell(first);
    await shows({ sold: 10 }, { actual: 90, expected: 90 });

    // Three units come from nowhere, as if three sales were undone.
    await target().nodes[0]?.setStock(93);
    await sell(second);
    await shows({ sold: 11, lost: 3 }, { actual: 92, expected: 89 });

    // The stock counts from where it is set, the sales from where they are forgotten.
    await first.setStock(50);
    await shows({ sold: 11, lost: 0 }, { actual: 50, expected: 50 });
    await first.reset();
    await shows({ sold: 5 }, { actual: 50, expected: 50 });
    await second.reset();
    await sell(second, 2);
    await shows({ sold: 2, refused: 0, inDoubt: 0, lost: 0 }, { actual: 48, expected: 48 });
    await second.reset();
    await sell(first);
    await shows({ sold: 1, refused: 0, inDoubt: 0, lost: 0 }, { actual: 47, expected: 47 });
  }));
