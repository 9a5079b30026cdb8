// Whole runs of the commands that tell a story, on each kind of servers: native, embedded, given, and a stack that runs already.

import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { type Results, rushFigures, stepFigures } from '../../../loadtest/evidence/results.ts';
import { storyOf, storyRowsOf } from '../../../loadtest/run/tracks.ts';
import { stockKey } from '../../../services/inventory/servers/store.ts';
import { makeTempDir } from '../../../stack/parts.ts';
import { freePort } from '../../../stack/ports.ts';
import { openRedis } from '../../../stack/redis.ts';
import { figuresAsDrawn } from '../../loadtest/orders/own-order-targets.ts';
import { makeBarePath, ownCommands } from '../../scripts/command-under-test.ts';
import { cell, drillsOf, QUICK, readLatest } from '../../scripts/quick-run.ts';

const [replay, staircase, up] = ['scripts/start.ts', 'scripts/staircase.ts', 'scripts/up.ts'];
const start = ownCommands(replay, staircase, up);

/** One that loses sales, and the last. */
const stages = ['1-in-process', '8-auto-renew'];
const ofReplicas = ['failover', 'forgotten-sale'];

/** Every sale of a rush is accounted for. */
function addsUp(results: Results) {
  for (const result of results.stages.flatMap((stage) => stage.drills)) {
    const f = rushFigures(result);
    if (f === undefined) continue;
    expect(f.answers + f.errors).toBe(f.sent);
    expect(f.received).toBe(f.sent);
    expect(f.sold + f.soldOut + f.lockTimeout + f.failed + f.inDoubt).toBe(f.sent);
    expect(f.lostUpdates).toBe(f.finalStock - f.expectedStock);
    expect(f.oversold).toBe(Math.max(0, f.sold - f.initialStock));
    expect(Object.values(f.soldByNode).reduce((sum, sold) => sum + sold, 0)).toBe(f.sold);
    expect(f.throughput).toBeGreaterThan(0);
  }
}

test.each(['native', 'embedded'])(
  'npm start, %s servers: as expected, and every sale is accounted for',
  async (kind) => {
    const bare = makeBarePath();
    onTestFinished(bare.remove);
    const env = kind === 'native' ? {} : { PATH: bare.path };
    const command = start(replay, [...QUICK, '--stage', stages.join()], env);
    expect(await command.ended).toEqual({ code: 0, signal: null });

    const results = readLatest(command);
    expect(results).toMatchObject({ verdict: 'as-expected', verdictReasons: [], leftOut: [] });
    expect(results.environment.redis.kind).toBe(kind);
    expect(results.environment.nginx).toMatch(kind === 'native' ? /^native 1\./ : /^embedded 1\.25\.4$/);
    expect(drillsOf(results)).toEqual(storyOf('locks', stages).map(({ stage, drill }) => `${stage} ${drill.name}`));
    addsUp(results);
    expect(cell(results, '1-in-process', 'sell-out')?.figures?.oversold).toBeGreaterThan(0);
    expect(cell(results, '1-in-process', 'rush')?.evidence[0]).toMatch(
      /(node-1.*node-2|node-2.*node-1).* read stock \d+$/,
    );
    expect(cell(results, '1-in-process', 'one-node-rush')?.figures?.redisCommandsPerSale).toBe(2);
    for (const drill of ofReplicas) {
      const lacking = 'The embedded Valkey does not support replication. Install redis-server or valkey-server.';
      const expected = { verdict: kind === 'native' ? 'fail' : 'not-applicable', expected: 'fail' };
      expect(cell(results, '8-auto-renew', drill)).toMatchObject({
        ...expected,
        ...(kind === 'embedded' && { reasons: [lacking] }),
      });
    }
  },
);

test('npm start -- --track orders: the whole story is as expected, with the figures that are drawn', async () => {
  const command = start(replay, ['--track', 'orders']);
  expect(await command.ended).toEqual({ code: 0, signal: null });

  const results = readLatest(command);
  expect(results).toMatchObject({ verdict: 'as-expected', verdictReasons: [] });
  const story = storyOf('orders', storyRowsOf('orders')).map(({ stage, drill }) => `${stage} ${drill.name}`);
  expect(drillsOf(results)).toEqual(story);
  for (const { stage, drills } of results.stages) {
    for (const { drill, verdict, figures, evidence } of drills) {
      expect({ stage, drill, ...figures }).toMatchObject({ stage, drill, ...figuresAsDrawn(stage, drill) });
      expect(evidence.length > 0).toBe(verdict === 'fail');
    }
  }
  expect(command.stdout()).toContain(`As expected. ${story.length} cells run: ${story.length} as expected.`);
});

test('npm run staircase -- --real, a Redis that was given: it is not broken, and keeps what it held', async () => {
  const temp = makeTempDir();
  onTestFinished(temp.remove);
  const { url, part } = await openRedis(undefined, { dir: temp.dir });
  onTestFinished(() => part?.stop());
  const client = new Redis(url);
  onTestFinished(() => client.disconnect());
  await client.set(stockKey('001'), 77);
  const chosen = ['--real', '--stage', '6,7', '--drill', 'rush,nested-call,failover', ...QUICK];
  const command = start(staircase, chosen, { REDIS_URL: url });
  expect((await command.ended).code).toBe(0);

  const results = readLatest(command);
  expect(results).toMatchObject({ verdict: 'as-expected', environment: { redis: { kind: 'external' } } });
  for (const { drills } of results.stages) {
    expect(drills.map(({ drill }) => drill)).toEqual(['rush', 'nested-call', 'failover']);
    expect(drills[1]?.timeline?.lanes.length).toBeGreaterThan(1);
    expect(Object.keys(stepFigures(drills[1] as (typeof drills)[number]) ?? {})).not.toEqual([]);
    expect(drills[2]?.reasons).toEqual(['The drill would stop the Redis at REDIS_URL, which the lab did not start.']);
  }
  expect(await client.keys('*')).toEqual([stockKey('001')]);
  expect(await client.get(stockKey('001'))).toBe('77');
});

test('npm start, aimed at a stack that runs already: what breaks nothing is run, and the stack is put back as it was', async () => {
  const [nginx, redis, port1, lab1, port2, lab2] = (await Promise.all(Array.from({ length: 6 }, freePort))).map(String);
  const stack = start(up, [], {
    ...{ NGINX_PORT: nginx, REDIS_PORT: redis, NODE_1_PORT: port1, NODE_1_LAB_PORT: lab1 },
    ...{ NODE_2_PORT: port2, NODE_2_LAB_PORT: lab2, LOCK_VERSION: '6', LEASE_MS: '12345' },
  });
  await stack.prints(/Stop: +Ctrl-C/);
  const [url, ...labs] = [nginx, lab1, lab2].map((port) => `http://127.0.0.1:${port}`);
  const read = async (address: string) => (await fetch(address)).json() as Promise<Record<string, unknown>>;
  // The two nodes differ, and the stock is not what it was at the start.
  await fetch(`${labs[1]}/lock-version`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ version: '7', leaseMs: 23_456, waitTimeoutMs: 3_456 }),
  });
  await fetch(`${url}/inventory/sale`, { method: 'POST' });
  const asItIs = async () => ({
    states: (await Promise.all(labs.map((lab) => read(`${lab}/state`)))).map(
      ({ lock, leaseMs, retryDelayMs, waitTimeoutMs, inFlight, instance }) => [
        ...[lock, leaseMs, retryDelayMs, waitTimeoutMs, inFlight, instance],
      ],
    ),
    stock: await read(`${url}/inventory`),
  });
  const before = await asItIs();

  const chosen = ['--stage', '4', '--drill', 'rush,slow-holder,client-gone,crashed-holder,late-write,failover'];
  const command = start(replay, [...QUICK, '--url', String(url), '--lab', labs.join(), ...chosen]);
  expect(await command.ended).toEqual({ code: 0, signal: null });

  const cells = Object.fromEntries(readLatest(command).stages[0]?.drills.map((each) => [each.drill, each]) ?? []);
  const notOurs = { verdict: 'not-applicable', reasons: ['The lab does not break a stack that was already running.'] };
  expect(cells).toMatchObject({
    ...{ rush: { verdict: 'pass' }, 'slow-holder': { verdict: 'fail' }, 'client-gone': { verdict: 'pass' } },
    ...{ 'crashed-holder': notOurs, 'late-write': notOurs, failover: notOurs },
  });
  expect(await asItIs()).toEqual(before);
});
