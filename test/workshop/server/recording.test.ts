import { expect, test } from 'vitest';
import type { Drill } from '../../../loadtest/harness/drill.ts';
import { drills } from '../../../loadtest/scenarios/index.ts';
import type { SaleEvent } from '../../../services/inventory/sale/contract.ts';
import { startRecording } from '../../../workshop/server/recording.ts';
import { ownTargets } from '../../loadtest/drills/own-targets.ts';
import { deedsOf, inSimulation, onRealServers } from './both-worlds.ts';

const { target } = ownTargets([], { readsReplies: true });

test.each([
  // Of those who come after its lease, who gets in first is for the machine to decide.
  ['5-owner-check', 'late-release', ['A']],
  ['8-auto-renew', 'paused-process', ['A', 'buyer 1', 'buyer 2', 'buyer 3']],
])('%s, %s: what was recorded of real servers shows the same as the simulation', async (stage, name, decided) => {
  const drill = drills.find((each) => each.name === name) as Drill;
  const real = deedsOf(await onRealServers(target(), stage, drill), stage);
  const simulated = deedsOf(await inSimulation(stage, drill), stage);

  expect(Object.keys(simulated)).toEqual(expect.arrayContaining(decided));
  for (const sale of decided) expect([sale, real[sale]]).toEqual([sale, simulated[sale]]);
});

test('two writes at nearly the same time: the stock at the end is what Redis says, whichever came last by the clock', () => {
  const wrote = (node: string, at: number, stock: number) => ({
    type: 'wrote' as const,
    at,
    node,
    saleId: node,
    sku: '001',
    stock,
  });
  const { audience, events } = startRecording({ stage: '0-none', drill: { kind: 'steps' }, onChange() {} });
  audience.observe({
    startedAt: 0,
    endedAt: () => 100,
    faults: [],
    samples: () => [],
    stock: 100,
    finalStock: () => 99,
  });

  const shown = events({ events: [wrote('node-2', 50, 99), wrote('node-1', 51, 98)] as SaleEvent[] });

  expect(shown.findLast((event) => event.kind === 'redis')?.stock).toBe(99);
});
