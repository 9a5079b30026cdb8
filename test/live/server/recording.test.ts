import { expect, test } from 'vitest';
import { type PlayRecord, recordsOf } from '../../../live/page/records.ts';
import { lanesOf, momentAt } from '../../../live/page/view/reduce.ts';
import { startRecording } from '../../../live/server/recording.ts';
import { linesOf } from '../../../live/server/scenarios.ts';
import { type Drill, runCell } from '../../../loadtest/harness/drill.ts';
import { realWorld } from '../../../loadtest/harness/real-world.ts';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { playDrill, usualSettings } from '../../../loadtest/virtual/play.ts';
import type { Heard } from '../../../virtual/server.ts';
import { ownTarget } from './own-target.ts';

/** Longer than a step takes on a machine that is busy. */
const settings = { ...usualSettings, leaseMs: 3_000 };
const target = ownTarget();

async function onRealServers(stage: string, drill: Drill) {
  const recording = startRecording({ stage, kind: drill.kind, lines: linesOf(drill.name), onChange() {} });
  const targets = { open: async () => target(), discard: async () => {} };
  const world = realWorld({ targets, settings, signal: new AbortController().signal });
  try {
    const cell = await runCell({ stage, drill }, world, recording.audience);
    return { cell, records: recording.records(cell) };
  } finally {
    await recording.close();
  }
}

async function inVirtualTime(stage: string, drill: Drill) {
  let heard: Heard[] = [];
  const { outcome, log } = await playDrill(drill, stage, { settings, disturb: ({ redis }) => (heard = redis.heard) });
  return recordsOf({ log, events: outcome.events, heard, atLines: [], lock: stage, lines: linesOf(drill.name) });
}

/** What the picture and the lanes show of a run, but for its times. */
function shown(records: PlayRecord[]) {
  const { stock, sold, expected } = momentAt(records, Number.POSITIVE_INFINITY);
  const { lanes, lock } = lanesOf(records, records.at(-1)?.at ?? 0);
  return {
    lines: records.flatMap((record) => (record.type === 'sentence' ? record.line : [])),
    lanes: lanes.map(({ sale, node, inside }) => ({ sale, node, times: inside.length })),
    faults: [
      ...new Set(records.flatMap((record) => (record.type === 'process' ? `${record.node} ${record.state}` : []))),
    ],
    isHeld: records.some((record) => record.type === 'held'),
    isLocked: lock.length > 0,
    end: { stock, sold, expected },
  };
}

test.each([
  ['5-owner-check', 'late-release'],
  ['8-auto-renew', 'paused-process'],
])('%s, %s: what was recorded of real servers shows the same as virtual time', async (stage, name) => {
  const drill = drills.find((each) => each.name === name) as Drill;
  const [real, virtual] = [await onRealServers(stage, drill), await inVirtualTime(stage, drill)];

  expect(shown(real.records)).toEqual(shown(virtual));
});

test('0-none, rush: each sale of the load is recorded, and the stock at its end is that of the shop', async () => {
  const { cell, records } = await onRealServers('0-none', drills.find(({ name }) => name === 'rush') as Drill);
  const end = momentAt(records, Number.POSITIVE_INFINITY);

  const figures: Record<string, unknown> = cell.figures ?? {};
  expect(end).toMatchObject({
    sold: settings.requests,
    expected: settings.stock - settings.requests,
    stock: figures['finalStock'],
  });
});
