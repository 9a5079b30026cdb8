import { expect, test } from 'vitest';
import type { PlayEvent } from '../../../loadtest/evidence/playing.ts';
import { type Drill, runCell } from '../../../loadtest/harness/drill.ts';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { realWorld } from '../../../loadtest/worlds/real/world.ts';
import { playDrill, usualSettings } from '../../../loadtest/worlds/simulated/play.ts';
import { playingIn } from '../../../loadtest/worlds/simulated/playing.ts';
import type { SaleEvent } from '../../../services/inventory/sale/contract.ts';
import { lockKey } from '../../../services/inventory/servers/store.ts';
import type { Lab } from '../../../simulation/lab.ts';
import { lanesOf, lostAt, momentAt } from '../../../workshop/page/view/reduce.ts';
import { startRecording } from '../../../workshop/server/recording.ts';
import { ownTargets } from '../../loadtest/drills/own-targets.ts';

/** Longer than a step takes on a machine that is busy. */
const settings = { ...usualSettings, leaseMs: 3_000 };
const { target } = ownTargets();

async function onRealServers(stage: string, drill: Drill) {
  const recording = startRecording({ stage, drill, onChange() {} });
  const targets = { open: async () => target(), discard: async () => {} };
  const world = realWorld({ targets, settings, signal: new AbortController().signal });
  try {
    const cell = await runCell({ stage, drill }, world, recording.audience);
    return { cell, events: recording.events(cell) };
  } finally {
    await recording.close();
  }
}

async function inVirtualTime(stage: string, drill: Drill): Promise<PlayEvent[]> {
  let lab: Lab | undefined;
  const disturb = (opened: Lab) => {
    opened.watchRedis(lockKey('001', stage));
    lab = opened;
  };
  await playDrill(drill, stage, { settings, disturb });
  return lab ? playingIn(lab) : [];
}

/** What a playing tells, but for what the machine decides: its times, and so how many units were lost and how often somebody tried. */
function shown(events: PlayEvent[]) {
  const end = momentAt(events, Number.POSITIVE_INFINITY);
  const { lanes } = lanesOf(events, events.at(-1)?.at ?? 0);
  return {
    sentences: events.flatMap((event) => (event.kind === 'sentence' ? [event.line, event.sentence.form] : [])),
    lanes: lanes.map(({ sale, node, inside }) => ({ sale, node, times: inside.length })),
    nodes: [...new Set(events.flatMap((event) => (event.kind === 'node' ? `${event.node} ${event.is}` : [])))],
    isHeld: events.some(({ kind }) => kind === 'held'),
    isLetGo: events.some(({ kind }) => kind === 'let go'),
    end: { sold: end.sold, expected: end.expected, hasLostUnits: lostAt(end) > 0 },
  };
}

const ownersIn = (events: PlayEvent[]) =>
  ['A', 'B'].filter((sale) => events.some((event) => event.kind === 'lease' && event.owner === sale));

test.each([
  ['5-owner-check', 'late-release'],
  ['8-auto-renew', 'paused-process'],
])('%s, %s: what was recorded of real servers shows the same as virtual time', async (stage, name) => {
  const drill = drills.find((each) => each.name === name) as Drill;
  const [real, virtual] = [await onRealServers(stage, drill), await inVirtualTime(stage, drill)];

  expect(shown(real.events)).toEqual(shown(virtual));
  // On real servers Redis is looked at now and then: that of A lasts for long, and a short one may not be seen.
  expect(ownersIn(real.events)).toContain('A');
  expect(ownersIn(virtual)).toEqual(expect.arrayContaining(ownersIn(real.events)));
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

  expect(momentAt(shown, Number.POSITIVE_INFINITY).stock).toBe(99);
});
