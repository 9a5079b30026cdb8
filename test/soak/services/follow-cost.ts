/**
 * Measures what it costs to be followed: `npx tsx test/soak/services/follow-cost.ts [pairs] [lock] [requests]`.
 *
 * A stack sells as it does in a rush, in turns with nobody and with one who follows each node, who reads in the process of the load as
 * the live page does. Each figure is the median of the pairs; the ratio is the median of the ratios of one pair.
 */
import { followNode } from '../../../loadtest/harness/event-stream.ts';
import { sendSales } from '../../../loadtest/harness/load.ts';
import { openLocalTarget, type Target } from '../../../loadtest/harness/target.ts';

const [pairs, lock, requests] = [
  Number(process.argv[2] ?? 10),
  process.argv[3] ?? 'redis-atomic',
  Number(process.argv[4] ?? 4_000),
];

/** Sells so many units. Resolves with the sales per second. */
async function measure(target: Target, isFollowed: boolean): Promise<number> {
  let heard = 0;
  const onPush = ({ events }: { events: unknown[] }) => {
    heard += events.length;
  };
  const following = isFollowed ? target.nodes.map(({ labUrl }) => followNode(labUrl, { onPush })) : [];
  for (const node of target.nodes) await node.reset();
  await target.nodes[0]?.setStock(1_000_000);
  const { signal } = new AbortController();
  const load = { url: target.url, requests, connections: 100, requestLimitMs: 60_000, signal, onAnswer() {} };
  const { sold, durationMs } = await sendSales(load);
  for (const follower of following) follower.close();
  if (sold.length !== requests) throw new Error(`${sold.length} of ${requests} were sold.`);
  if (isFollowed && heard < requests) throw new Error(`Of ${requests} sales ${heard} events were heard.`);
  return (1_000 * sold.length) / durationMs;
}

const target = await openLocalTarget({ env: { LOG_LEVEL: 'silent' } });
try {
  for (const node of target.nodes) await node.setLock(lock);
  // The first ones warm up.
  for (let round = 0; round < 3; round += 1) await measure(target, false);
  const results: { alone: number; followed: number }[] = [];
  for (let pair = 0; pair < pairs; pair += 1)
    results.push({ alone: await measure(target, false), followed: await measure(target, true) });
  const middle = (of: (pair: (typeof results)[number]) => number) =>
    results.map(of).toSorted((a, b) => a - b)[results.length >> 1] ?? Number.NaN;
  const [alone, followed] = [middle((pair) => pair.alone), middle((pair) => pair.followed)];
  const ratio = middle((pair) => pair.followed / pair.alone);
  console.log(
    `${lock}: ${alone.toFixed(0)} sales/s followed by nobody, ${followed.toFixed(0)} by one, ratio ${ratio.toFixed(3)}`,
  );
} finally {
  await target.close();
}
