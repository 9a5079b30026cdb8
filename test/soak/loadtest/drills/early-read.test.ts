import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { earlyRead } from '../../../../loadtest/drills/early-read.ts';
import type { Target } from '../../../../loadtest/harness/target.ts';
import type { Command } from '../../../../scripts/link/link.ts';
import {
  figuresOf,
  impostor,
  isUnknown,
  LEASE_MS,
  ownTargets,
  SHARED_LIMIT_MS,
  withNodes,
} from '../../../loadtest/drills/own-targets.ts';
import { startMisbehavingServer } from '../harness/misbehaving-server.ts';

const { run } = ownTargets(2);
const runOn = (wrap: (target: Target) => Target) => run(earlyRead, 'read-write', { wrap });

/** The links of the nodes do something else. */
const linked = (change: (link: NonNullable<Target['nodes'][number]['link']>) => object) => (target: Target) =>
  withNodes(target, ({ link }) => (link ? { link: { ...link, ...change(link) } } : {}));

describe.concurrent('early-read', { timeout: SHARED_LIMIT_MS }, () => {
  test('read-write holds: nobody is answered early, two look at once, and nobody looks past a sale that waits', async () => {
    const outcome = await run(earlyRead, 'read-write');

    expect(outcome).toMatchObject({ verdict: 'pass', witnesses: [] });
    expect(figuresOf(outcome)).toEqual({
      earlyAnswers: 0,
      readersAtOnce: 2,
      overtakes: 0,
      waitedMs: expect.any(Number),
    });
  });

  test('a node that looks without a lock fails, and says what it answered in the middle of a sale', async () => {
    const { verdict, reasons, figures } = await runOn(impostor('read-write', '8-auto-renew'));

    expect({ verdict, reasons, figures }).toEqual({
      verdict: 'fail',
      reasons: [
        expect.stringMatching(/^node-2 answered 100 while sale \d+ on node-1 was between its read and its write\.$/),
      ],
      figures: { earlyAnswers: 1 },
    });
  });

  test('a look that comes late to its node is not kept out by another one', async ({ onTestFinished }) => {
    let upstream = '';
    let looks = 0;
    const server = await startMisbehavingServer('', async ({ incoming, response }) => {
      if (incoming.method === 'GET') looks += 1;
      // The second one of the second node meets that of the first.
      if (incoming.method === 'GET' && looks === 2) await sleep(LEASE_MS / 3);
      const answer = await fetch(new URL(incoming.url ?? '', upstream), { method: incoming.method ?? '' });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    });
    onTestFinished(server.stop);
    const wrap = (target: Target) => {
      upstream = target.nodes[1]?.publicUrl ?? '';
      return withNodes(target, (_node, index) => (index === 1 ? { publicUrl: server.url } : {}));
    };

    const { verdict, reasons } = await run(earlyRead, 'read-write', { wrap, tries: 4 });
    expect({ verdict, reasons }).toEqual({ verdict: 'pass', reasons: [expect.stringContaining('two looked at once')] });
  });

  test('nothing to sell, so nobody is inside: unknown', async () => {
    isUnknown(await run(earlyRead, 'read-write', { stock: 0 }), /did not stay inside/);
  });

  test('the second node can’t be asked: unknown', async () => {
    const deaf = (target: Target) =>
      withNodes(target, (_node, index) => (index === 1 ? { publicUrl: 'http://127.0.0.1:1' } : {}));
    isUnknown(await runOn(deaf), /^node-2 was asked for the stock, and answered nothing\.$/);
  });

  test('there is no link: unknown', async () => {
    const withoutLinks = (target: Target): Target => ({
      ...target,
      nodes: target.nodes.map(({ link, ...node }) => node),
    });
    isUnknown(await runOn(withoutLinks), /without a link/);
  });

  test('the link never sees that the stock is read: unknown', async () => {
    const never = linked((link) => ({
      holdNext: (meant: Parameters<typeof link.holdNext>[0]) => ({
        ...link.holdNext(meant),
        arrived: new Promise<Command>(() => {}),
      }),
    }));
    isUnknown(await runOn(never), /^node-1 did not read the stock\.$/);
  });

  test('those who look are not slow, so that the sale may come when nobody does: unknown', async () => {
    isUnknown(
      await runOn(linked(() => ({ delayReplies() {} }))),
      /^(Who looked on node-1 was not slow|The sale on node-2 did not ask while somebody looked)\.$/,
    );
  });
});
