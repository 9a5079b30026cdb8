import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTempDir, type Part } from '../../../../scripts/stack/parts.ts';
import { findOnPath } from '../../../../scripts/stack/path.ts';
import { openRedis, type RedisServer } from '../../../../scripts/stack/redis.ts';
import { linkedRedis, ownLinks, seen } from '../../../scripts/link/own-links.ts';

const redis = linkedRedis();
const { open, connect } = ownLinks();

/** Clients that count, one key each, until `stop`. */
async function startCounting(url: string, count: number) {
  const clients = await Promise.all(
    Array.from({ length: count }, () =>
      connect(url, { retryStrategy: () => 5, maxRetriesPerRequest: 0, enableOfflineQueue: false }),
    ),
  );
  const key = (at: number) => `${redis.key()}:${at}`;
  const answers: number[][] = clients.map(() => []);
  const inDoubt = clients.map(() => 0);
  let isOver = false;
  const loops = clients.map(async (client, at) => {
    while (!isOver) {
      const sent = Array.from({ length: 5 }, () =>
        client.incr(key(at)).then(
          (answer) => answers[at]?.push(answer),
          () => inDoubt.splice(at, 1, (inDoubt[at] as number) + 1),
        ),
      );
      await Promise.all(sent);
      // A client that notices that it is cut off rejects at once, and must be let notice more.
      await immediate();
      if (client.status !== 'ready' && !isOver) await seen(client, 'ready');
    }
  });
  const answered = () => answers.reduce((sum, { length }) => sum + length, 0);
  return {
    clients,
    answered,
    /** Resolves when so many more answers have come, and each client has had some of them. */
    progress: (more: number) => {
      const goal = answered() + more;
      const before = answers.map(({ length }) => length);
      const missing = () =>
        Math.max(goal - answered(), ...answers.map(({ length }, at) => (before[at] as number) + 1 - length));
      return expect.poll(missing, { timeout: 60_000, interval: 5 }).toBeLessThanOrEqual(0);
    },
    async stop() {
      isOver = true;
      await Promise.all(loops);
      return { answers, inDoubt };
    },
    /** What one server counted, removed from it. */
    counted: async (server: ReturnType<typeof redis.connect>) =>
      (await Promise.all(clients.map((_, at) => server.getdel(key(at))))).map(Number),
  };
}

const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

test('link: 50 clients whose replies are delayed on and off lose nothing and keep their order', async () => {
  const link = await open(redis.url());
  const counting = await startCounting(link.url, 50);

  for (const ms of [20, 3, 0, 50, 0]) {
    link.delayReplies(ms);
    await counting.progress(250);
  }
  const { answers, inDoubt } = await counting.stop();

  for (const answer of answers) expect(answer).toEqual(upTo(answer.length));
  expect(inDoubt).toEqual(answers.map(() => 0));
  expect(await counting.counted(redis.connect())).toEqual(answers.map(({ length }) => length));
});

test('link: what 50 clients got an answer to is done though the line is cut again and again', async () => {
  const link = await open(redis.url());
  const counting = await startCounting(link.url, 50);

  for (let turn = 0; turn < 5; turn += 1) {
    await counting.progress(250);
    link.cut();
    await Promise.all(counting.clients.map((client) => client.status === 'ready' && seen(client, 'close')));
    link.restore();
  }
  await counting.progress(250);
  const { answers, inDoubt } = await counting.stop();
  const counted = await counting.counted(redis.connect());

  counted.forEach((count, at) => {
    const answer = answers[at] as number[];
    expect(answer).toEqual(answer.toSorted((a, b) => a - b));
    expect(new Set(answer).size).toBe(answer.length);
    expect(count).toBeGreaterThanOrEqual(answer.length);
    expect(count).toBeLessThanOrEqual(answer.length + (inDoubt[at] as number));
  });
});

test('link: 50 clients over a line that goes silent again and again lose nothing and keep their order', async () => {
  const link = await open(redis.url());
  const counting = await startCounting(link.url, 50);

  for (let turn = 0; turn < 5; turn += 1) {
    await counting.progress(250);
    link.cut('silent');
    await sleep(20);
    const before = counting.answered();
    await sleep(20);
    expect(counting.answered()).toBe(before);
    link.restore();
  }
  const { answers, inDoubt } = await counting.stop();

  for (const answer of answers) expect(answer).toEqual(upTo(answer.length));
  expect(inDoubt).toEqual(answers.map(() => 0));
  expect(await counting.counted(redis.connect())).toEqual(answers.map(({ length }) => length));
});

describe('link: with a second Redis', () => {
  let temp: ReturnType<typeof makeTempDir>;
  let second: RedisServer;

  beforeAll(async () => {
    temp = makeTempDir();
    second = await openRedis(undefined, temp);
  });

  afterAll(async () => {
    await second.part?.stop();
    temp.remove();
  });

  test('link: 50 clients moved to another Redis got answers only to what one of the two has done', async () => {
    const link = await open(redis.url());
    const counting = await startCounting(link.url, 50);

    await counting.progress(2_000);
    link.moveTo(second.url);
    await counting.progress(2_000);
    const { answers, inDoubt } = await counting.stop();
    const first = await counting.counted(redis.connect());
    const then = await counting.counted(await connect(second.url));

    answers.forEach((answer, at) => {
      // A client that has had no answer since the move has counted on the first alone.
      const restart = answer.includes(1, 1) ? answer.indexOf(1, 1) : answer.length;
      const [before, after] = [answer.slice(0, restart), answer.slice(restart)];
      expect(before).toEqual(upTo(before.length));
      expect(after).toEqual(upTo(after.length));
      expect(then[at]).toBe(after.length);
      expect(first[at]).toBeGreaterThanOrEqual(before.length);
      expect(first[at]).toBeLessThanOrEqual(before.length + (inDoubt[at] as number));
    });
  });
});

test.skipIf(findOnPath('redis-server', 'valkey-server') === undefined)(
  'link: a lock taken after the replication line was cut is unknown to the promoted replica (needs redis-server on the PATH)',
  async () => {
    const [primaryDir, replicaDir] = [makeTempDir(), makeTempDir()];
    const parts: Part[] = [];
    const start = async (dir: string) => {
      const server = await openRedis(undefined, { dir });
      parts.push(server.part as Part);
      return server;
    };
    try {
      const [primary, replica] = [await start(primaryDir.dir), await start(replicaDir.dir)];
      const replication = await open(primary.url);
      const nodeLink = await open(primary.url);
      const [node, onReplica] = [await connect(nodeLink.url), await connect(replica.url)];
      await node.config('SET', 'repl-diskless-sync-delay', '0');
      await onReplica.replicaof('127.0.0.1', String(replication.port));
      await node.set('before', 'a');
      await expect.poll(() => onReplica.get('before')).toBe('a');

      replication.cut('silent');
      const taken = await node.set('lock', 'first', 'NX');
      process.kill(parts[0]?.pid as number, 'SIGKILL');
      await parts[0]?.ended;
      await onReplica.replicaof('NO', 'ONE');
      nodeLink.moveTo(replica.url);
      const afterwards = await connect(nodeLink.url);
      const takenAgain = await afterwards.set('lock', 'second', 'NX');

      expect([taken, takenAgain]).toEqual(['OK', 'OK']);
      expect(await afterwards.mget('before', 'lock')).toEqual(['a', 'second']);
      expect(replication.counters.commands.get('PSYNC')).toBe(1);
    } finally {
      for (const part of parts) await part.stop();
      primaryDir.remove();
      replicaDir.remove();
    }
  },
);
