import { expect, onTestFinished, test } from 'vitest';
import { sharedRedis } from '../../stack.ts';
import { startNode } from './node-under-test.ts';

test('HOST: a node listens on 127.0.0.1 alone, or where it says', async () => {
  const redis = await sharedRedis();
  const [usual, open] = await Promise.all([startNode(redis.url), startNode(redis.url, { HOST: '0.0.0.0' })]);
  for (const { part } of [usual, open]) onTestFinished(part.stop);
  // Another address of this machine, which stands for those in a network.
  const elsewhere = ({ port }: { port: number }) =>
    fetch(`http://127.0.0.2:${port}/healthz`).then(
      ({ status }) => status,
      () => 'no answer',
    );

  expect([await elsewhere(usual), await elsewhere(open)]).toEqual(['no answer', 200]);
});
