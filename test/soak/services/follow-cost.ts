/**
 * Measures what it costs to be followed: `npx tsx test/soak/services/follow-cost.ts [pairs] [lock] [requests]`.
 *
 * A stack sells as it does in a rush, in turns with nobody and with one who follows each node, who reads in the process of the load as
 * the live page does. Each figure is the median of the pairs; the ratio is the median of the ratios of one pair. With 0 pairs it sells
 * with nobody alone, five times: to compare two versions of the service, call it in both checkouts in turn.
 */
import { followNode } from '../../../loadtest/harness/event-stream.ts';
import { sendSales } from '../../../loadtest/harness/load.ts';
import { openLocalTarget, type Target } from '../../../loadtest/harness/target.ts';

const CONNECTIONS = 100;
const ALONE = 5;
const LIMIT_MS = 60_000;

const pairs = Number(process.argv[2] ?? 10);
const lock = process.argv[3] ?? 'redis-atomic';
const requests = Number(process.argv[4] ?? 4_000);

/** Sells so many units. Resolves with the sales per second. */
async function measure(target: Target, followers: number): Promise<number> {
  let heard = 0;
  const followed = target.nodes.flatMap((node) => Array.from({ length: followers }, () => node));
  const following = followed.map(({ labUrl }) =>
    followNode(labUrl, {
      onPush({ events }) {
        heard += events.length;
      },
    }),
  );
  for (const node of target.nodes) await node.reset();
  await target.nodes[0]?.setStock(1_000_000);
  const { sold, durationMs } = await sendSales({
    url: target.url,
    requests,
    connections: CONNECTIONS,
    requestLimitMs: LIMIT_MS,
    signal: new AbortController().signal,
    onAnswer() {},
  });
  for (const follower of following) follower.close();
  if (sold.length !== requests) throw new Error(`${sold.length} of ${requests} were sold.`);
  if (followers > 0 && heard < requests) throw new Error(`Of ${requests} sales ${heard} events were heard.`);
  return (1_000 * sold.length) / durationMs;
}

const target = await openLocalTarget({ env: { LOG_LEVEL: 'silent' } });
try {
  for (const node of target.nodes) await node.setLock(lock);
  // The first ones warm up.
  for (let round = 0; round < 3; round += 1) await measure(target, 0);
  const results: { without: number; with: number }[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const isFollowedFirst = pair % 2 === 1;
    const first = await measure(target, isFollowedFirst ? 1 : 0);
    const second = await measure(target, isFollowedFirst ? 0 : 1);
    results.push(isFollowedFirst ? { without: second, with: first } : { without: first, with: second });
  }
  const alone: number[] = [];
  for (let round = 0; pairs === 0 && round < ALONE; round += 1) alone.push(await measure(target, 0));
  if (pairs === 0) console.log(`${lock}: ${median(alone).toFixed(0)} sales/s`);
  else {
    const ratios = results.map((result) => result.with / result.without);
    console.log(
      [
        `${lock}, ${pairs} pairs of ${requests} sales:`,
        `${median(results.map((result) => result.without)).toFixed(0)} sales/s followed by nobody,`,
        `${median(results.map((result) => result.with)).toFixed(0)} by one,`,
        `ratio ${median(ratios).toFixed(3)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`,
      ].join(' '),
    );
  }
} finally {
  await target.close();
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
