import { expect, test } from 'vitest';
import type { Drill, DrillOutcome } from '../../../../loadtest/harness/drill.ts';
import type { Learned } from '../../../../loadtest/worlds/foreign/learned.ts';
import type { ForeignTarget } from '../../../../loadtest/worlds/foreign/target.ts';
import { foreignWorld } from '../../../../loadtest/worlds/foreign/world.ts';

const LEASE_MS = 400;
const lock = { keys: ['shop:lock'], leaseMs: LEASE_MS, isRenewed: false, release: [] };
const noEvidence = { says: [], reasons: [], evidence: [], evidenceCount: 0, events: [] };

/** A drill that the machine spoils where a lease is as short as that, played under a service that is known so. */
async function play(learned: Partial<Learned>) {
  const leases: number[] = [];
  const short = {
    leaseMs: LEASE_MS,
    nodes: [{ process: {}, link: { watchReplies: () => () => {} } }],
    async calm() {},
    async restart(ms: number) {
      short.leaseMs = ms;
    },
    partDied: new Promise(() => {}),
  };
  const drill: Drill = {
    name: 'long-sale',
    kind: 'steps',
    async run({ settings: { leaseMs } }): Promise<DrillOutcome> {
      leases.push(leaseMs);
      const isSpoilt = leaseMs === LEASE_MS;
      return { ...noEvidence, verdict: isSpoilt ? 'unknown' : 'fail', isSpoilt };
    },
  };
  const target = short as unknown as ForeignTarget;
  const world = foreignWorld({
    short: target,
    long: target,
    learned: { lock, obeysLease: true, patienceMs: Number.POSITIVE_INFINITY, ...learned } as Learned,
    settings: { requests: 1, connections: 1, stock: 1, units: 1, leaseMs: LEASE_MS },
    longestWaitMs: 4_000,
    signal: new AbortController().signal,
    showsAll: false,
  });
  const { outcome } = await world.play({ stage: 'shop', drill }, {}, 0);
  return { leases, verdict: outcome.verdict };
}

test('a drill that a busy machine has spoilt is played under a longer lease, where the service takes one and its clients wait for it', async () => {
  expect(await play({})).toEqual({ leases: [400, 800], verdict: 'fail' });
  expect(await play({ obeysLease: false })).toEqual({ leases: [400], verdict: 'unknown' });
  expect(await play({ patienceMs: 2_000 })).toEqual({ leases: [400], verdict: 'unknown' });
});
