import { describe, expect, test } from 'vitest';
import type { Target } from '../../../../loadtest/harness/target.ts';
import { scenario } from '../../../../loadtest/scenarios/index.ts';
import { deaf, isUnknown, never, run, withNodes } from './own-target.ts';

const earlyRead = scenario('early-read');

const runOn = (wrap: (target: Target) => Target) => run(earlyRead, 'read-write', { wrap });

/** The links of the nodes do something else. */
const linked = (change: (link: NonNullable<Target['nodes'][number]['link']>) => object) => (target: Target) =>
  withNodes(target, ({ link }) => (link ? { link: { ...link, ...change(link) } } : {}));

describe('early-read', () => {
  test('a node that looks without a lock fails, and says what it answered in the middle of a sale', async () => {
    const { verdict, reasons, figures } = await run(earlyRead, 'read-write', { really: '8-auto-renew' });

    expect({ verdict, reasons, figures }).toEqual({
      verdict: 'fail',
      reasons: [
        expect.stringMatching(/^node-2 answered 100 while sale \d+ on node-1 was between its read and its write\.$/),
      ],
      figures: { earlyAnswers: 1 },
    });
  });

  test('the second node can’t be asked: unknown', async () => {
    isUnknown(await runOn(deaf), /^node-2 was asked for the stock, and answered nothing\.$/);
  });

  test('the link never sees that the stock is read: unknown', async () => {
    isUnknown(await runOn(never), /^node-1 did not read the stock\.$/);
  });

  test('those who look are not slow, so that the sale may come when nobody does: unknown', async () => {
    isUnknown(
      await runOn(linked(() => ({ delayReplies() {} }))),
      /^(Who looked on node-1 was not slow|The sale on node-2 did not ask while somebody looked)\.$/,
    );
  });
});
