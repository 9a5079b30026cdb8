import { expect, test } from 'vitest';
import type { Clock } from '../../../../loadtest/harness/clock.ts';
import type { Target } from '../../../../loadtest/harness/target.ts';
import { scenario } from '../../../../loadtest/scenarios/index.ts';
import type { Scenario } from '../../../../loadtest/scenarios/read.ts';
import type { Standstill } from '../../../../services/inventory/admin/contract.ts';
import { type RunOptions, run, withNodes } from './own-target.ts';

const blockedLoop = scenario('blocked-loop');
const longSale = scenario('long-sale');
const pausedProcess = scenario('paused-process');
const starvation = scenario('starvation');

/** Plays a drill in which a node says that it stood still so. */
async function play(page: Scenario, name: string, standstills: (clock: Clock) => Standstill[], more: RunOptions = {}) {
  const wrap = (target: Target) =>
    withNodes(target, (node) => ({
      state: async () => ({
        ...(await node.state()),
        ...(node.name === name && { standstills: standstills(target.clock) }),
      }),
    }));
  const { verdict, reasons } = await run(page, '8-auto-renew', { wrap, leaseMs: 1_000, ...more });
  return { verdict, reason: reasons[0] };
}

const justNow = (ms: number) => (clock: Clock) => [{ from: clock.now() - ms, until: clock.now(), ms }];

test('a node that stood still for a quarter of a lease spoils the verdict', async () => {
  expect(await play(longSale, 'node-2', justNow(125))).toEqual({
    verdict: 'unknown',
    reason: 'The machine was too busy: nothing ran for 125 ms.',
  });
});

test('so does one of half the time for which a node waits for its server, whatever the lease', async () => {
  expect(await play(starvation, 'node-2', justNow(350))).toMatchObject({ verdict: 'unknown' });
  expect((await play(starvation, 'node-2', justNow(349))).verdict).not.toBe('unknown');
});

test('a standstill that is short beside the lease, or older than the drill, spoils nothing', async () => {
  expect(await play(longSale, 'node-2', justNow(124))).toMatchObject({ verdict: 'pass' });
  expect(await play(longSale, 'node-2', () => [{ from: -900, until: -1, ms: 899 }])).toMatchObject({ verdict: 'pass' });
});

test.each([pausedProcess, blockedLoop])(
  '$name: that the drill has a node stand still spoils nothing',
  async (drill) => {
    const said: number[] = [];
    const betweenSteps = () => {
      const [from = 0, until = from] = [said[0], said.at(-1)];
      return [{ from, until, ms: until - from }];
    };

    const played = await play(drill, 'node-1', betweenSteps, {
      narrateOn:
        ({ clock }) =>
        async () =>
          void said.push(clock.now()),
    });

    expect(betweenSteps()[0]?.ms).toBeGreaterThan(1_000);
    expect(played).toMatchObject({ verdict: 'fail' });
  },
);
