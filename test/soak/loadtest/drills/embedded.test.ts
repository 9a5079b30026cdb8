import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clockJump } from '../../../../loadtest/drills/clock-jump.ts';
import { crossedWrite } from '../../../../loadtest/drills/crossed-write.ts';
import { failover } from '../../../../loadtest/drills/failover.ts';
import { forgottenSale } from '../../../../loadtest/drills/forgotten-sale.ts';
import { hungHolder } from '../../../../loadtest/drills/hung-holder.ts';
import { lateRelease } from '../../../../loadtest/drills/late-release.ts';
import { lateWrite } from '../../../../loadtest/drills/late-write.ts';
import { nestedCall } from '../../../../loadtest/drills/nested-call.ts';
import { redisOutage } from '../../../../loadtest/drills/redis-outage.ts';
import { beyond, commandsOf } from '../../../../locks/index.ts';
import { makeBarePath } from '../../../loadtest/commands/command-under-test.ts';
import { comesOutAsSigned, figuresOf, ownTargets, timelineOf } from '../../../loadtest/drills/own-targets.ts';
import { expectAllSold, runLoad } from '../../../services/inventory/rush-at.ts';

// Nothing but Node is on the PATH, so Redis is the embedded Valkey.
const bare = makeBarePath();
const { PATH } = process.env;

beforeAll(() => {
  process.env['PATH'] = bare.path;
});

afterAll(() => {
  process.env['PATH'] = PATH;
  bare.remove();
});

describe('drills on the embedded Valkey', () => {
  const { run, use } = ownTargets(1);

  test('it is the one that was asked for, and beside the masters it lacks replication alone', async () => {
    await use(async ({ redis, lacks }) => {
      expect(redis).toEqual({ kind: 'embedded', version: expect.stringMatching(/^valkey \d/) });
      const lacking = Object.entries(lacks).flatMap(([need, why]) => (why === undefined ? [] : [need]));
      expect(lacking).toEqual(['masters', 'master processes', 'lasting replica', 'replication']);
    });
  });

  test('late-release: 5-owner-check fails, and 6-lua-release holds', async () => {
    const late = await run(lateRelease, '5-owner-check');
    expect(late).toMatchObject({ verdict: 'fail', witnessCount: 1, figures: { overlaps: 1 } });
    expect(await run(lateRelease, '6-lua-release')).toMatchObject({ verdict: 'pass', figures: { overlaps: 0 } });
  });

  test('every lock that needs commands of Redis that may be missing has them here', async () => {
    const needing = Object.keys(beyond).filter((name) => commandsOf(name) !== undefined);
    expect(needing).toEqual(['delete-if-equal']);
    await use(async ({ redisLacks }) => expect(redisLacks).toEqual({}));
  });

  test.each([
    { drill: hungHolder, sign: '✔' },
    { drill: lateRelease, sign: '✔' },
    { drill: nestedCall, sign: '✘' },
  ])('$drill.name under delete-if-equal: $sign', async (cell) => {
    await comesOutAsSigned(run, { ...cell, stage: 'delete-if-equal' });
  });

  test('rush under delete-if-equal: two nodes lose nothing', async () => {
    await use(async (target) => expectAllSold(await runLoad(target, 'delete-if-equal')));
  });

  test('late-write under 8-auto-renew: fails', async () => {
    const outcome = await run(lateWrite, '8-auto-renew');
    expect(outcome.verdict).toBe('fail');
    expect(figuresOf(outcome)).toMatchObject({ lostUpdates: 2, soldMeanwhile: 3 });
  });

  test('crossed-write: fenced-writes fails, and fenced holds', async () => {
    expect(await run(crossedWrite, 'fenced-writes')).toMatchObject({ verdict: 'fail', figures: { lostUpdates: 1 } });
    expect(await run(crossedWrite, 'fenced')).toMatchObject({ verdict: 'pass', figures: { lostUpdates: 0 } });
  });

  test('redis-outage under 8-auto-renew: Redis stands still once, and the reason says why it was not restarted', async () => {
    const outcome = await run(redisOutage, '8-auto-renew');
    const { verdict, reasons } = outcome;
    expect({ verdict, reasons }).toEqual({
      verdict: 'pass',
      reasons: [expect.stringMatching(/not restarted: the embedded Valkey keeps no data over a restart/)],
    });
    expect(timelineOf(outcome).faults.map(({ label }) => label)).toEqual([expect.stringMatching(/SIGSTOP/)]);
    expect(figuresOf(outcome)).toMatchObject({ lostUpdates: 0, overlaps: 0 });
  });

  test('clock-jump: a server of its own has the clock that jumps', async () => {
    expect(await run(clockJump, '8-auto-renew')).toMatchObject({ verdict: 'fail', figures: { lostUpdates: 2 } });
  });

  test.each([failover, forgottenSale])('$name: not applicable, and the reason says what to install', async (drill) => {
    expect(await run(drill, '8-auto-renew')).toMatchObject({
      verdict: 'not-applicable',
      reasons: [expect.stringMatching(/embedded Valkey knows no replication.*redis-server/)],
    });
  });
});
