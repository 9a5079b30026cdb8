import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { DrillOutcome } from '../../loadtest/drill.ts';
import { clientGone } from '../../loadtest/drills/client-gone.ts';
import { crashedHolder } from '../../loadtest/drills/crashed-holder.ts';
import { stepDrills } from '../../loadtest/drills/index.ts';
import { longSale } from '../../loadtest/drills/long-sale.ts';
import { longWait } from '../../loadtest/drills/long-wait.ts';
import { nestedCall } from '../../loadtest/drills/nested-call.ts';
import { pausedProcess } from '../../loadtest/drills/paused-process.ts';
import { slowHolder } from '../../loadtest/drills/slow-holder.ts';
import type { StepFigures } from '../../loadtest/results.ts';
import { taughtVerdict } from '../../loadtest/staircase.ts';
import { runStepDrill, type StepDrill } from '../../loadtest/step-drill.ts';
import { openLocalTarget, type Target } from '../../loadtest/target.ts';
import { locks } from '../../locks/index.ts';

const LEASE_MS = 600;

let target: Target;

beforeAll(async () => {
  target = await openLocalTarget({ forDrills: true, env: { LOG_LEVEL: 'silent' } });
});

afterAll(() => target.close());

/** After every drill, whatever came of it, the stack is as it was before. */
afterEach(async () => {
  for (const node of target.nodes) {
    const { inFlight, counts } = await node.state();
    expect({ inFlight, received: counts.received }).toEqual({ inFlight: 0, received: 0 });
  }
  expect(await target.nodes[0]?.stock()).toBeUndefined();
});

function run(drill: StepDrill, stage: string, more: { target?: Target; stock?: number } = {}): Promise<DrillOutcome> {
  return runStepDrill(drill, { target, stage, leaseMs: LEASE_MS, stock: 100, tell: async () => {}, ...more });
}

const figuresOf = ({ figures }: DrillOutcome) => figures as StepFigures;

const taughtCells = stepDrills.flatMap((drill) =>
  Object.keys(locks).flatMap((stage) => {
    const taught = taughtVerdict(Number.parseInt(stage, 10), drill.name);
    return taught === null ? [] : [{ drill, name: drill.name, stage, taught }];
  }),
);

describe('staircase: every cell that is drawn comes out as drawn', () => {
  test.each(taughtCells)('$name under $stage: $taught', async ({ drill, stage, taught }) => {
    const { verdict, reasons } = await run(drill, stage);
    expect({ verdict, reasons }).toEqual({ verdict: taught, reasons: [expect.any(String)] });
  });
});

describe('figures and witnesses', () => {
  test('crashed-holder under 4-ttl: the other node takes over when the lease ends, not before', async () => {
    const { takeoverMs } = figuresOf(await run(crashedHolder, '4-ttl'));
    expect(takeoverMs).toBeGreaterThan(LEASE_MS / 2);
    expect(takeoverMs).toBeLessThan(2 * LEASE_MS);
  });

  test('client-gone under 0-none, which makes nobody wait: not applicable', async () => {
    expect((await run(clientGone, '0-none')).verdict).toBe('not-applicable');
  });

  test('slow-holder under 3-spin, which never gives a lock up: it holds, and nobody gets in meanwhile', async () => {
    const outcome = await run(slowHolder, '3-spin');
    expect(outcome.verdict).toBe('pass');
    expect(figuresOf(outcome)).toMatchObject({ enteredMeanwhile: 0, keptOutMs: 2.5 * LEASE_MS });
  });

  test('paused-process under 8-auto-renew: both readers of the same stock are named', async () => {
    const { verdict, figures, witnesses } = await run(pausedProcess, '8-auto-renew');
    expect(verdict).toBe('fail');
    expect(figures).toMatchObject({ lostUpdates: 2, soldMeanwhile: 3 });
    expect(witnesses[0]).toMatch(
      /^sale \d+ on node-1 \(at [\d.]+ s\) and sale \d+ on node-2 \(at [\d.]+ s\) both read stock 100$/,
    );
  });
});

describe('a fault that could not be staged is unknown, never pass', () => {
  const isUnknown = ({ verdict, reasons }: DrillOutcome, expected: RegExp) => {
    expect(verdict).toBe('unknown');
    expect(reasons.join()).toMatch(expected);
  };
  /** The same nodes, without the right to stop or kill their processes. */
  const withoutProcesses = (): Target => ({
    ...target,
    nodes: target.nodes.map(({ process, ...node }) => node),
  });
  /** The same nodes, which take a script and do not follow it. */
  const withoutScripts = (): Target => ({
    ...target,
    nodes: target.nodes.map((node) => ({ ...node, script: async () => {} })),
  });

  test.each([longWait, crashedHolder, slowHolder, nestedCall, pausedProcess, clientGone])(
    '$name: nothing to sell, so nobody is inside',
    async (drill) => {
      isUnknown(await run(drill, '8-auto-renew', { stock: 0 }), /did not stay inside/);
    },
  );

  test('long-sale: nothing to sell, so no sale is long', async () => {
    isUnknown(await run(longSale, '8-auto-renew', { stock: 0 }), /Not every sale stayed inside/);
  });

  test.each([crashedHolder, pausedProcess])('$name: the processes are not ours', async (drill) => {
    isUnknown(await run(drill, '8-auto-renew', { target: withoutProcesses() }), /node-1 is not a process of this run/);
  });

  test.each([crashedHolder, slowHolder, pausedProcess, longSale])(
    '$name: the sales do not follow the script',
    async (drill) => {
      const { verdict } = await run(drill, '8-auto-renew', { target: withoutScripts() });
      expect(verdict).toBe('unknown');
    },
  );
});

describe('a lock that is worse than its stage is found out', () => {
  test.each([
    { drill: longWait, stage: '3-spin', really: '2-recursive-retry' },
    { drill: crashedHolder, stage: '4-ttl', really: '3-spin' },
    { drill: slowHolder, stage: '5-owner-check', really: '4-ttl' },
    { drill: nestedCall, stage: '7-reentrant', really: '6-lua-release' },
    { drill: longSale, stage: '8-auto-renew', really: '7-reentrant' },
  ])('$drill.name: a $stage that is really a $really fails', async ({ drill, stage, really }) => {
    const impostor: Target = {
      ...target,
      nodes: target.nodes.map((node) => ({
        ...node,
        setLock: (version, timing) => node.setLock(version === stage ? really : version, timing),
      })),
    };
    expect(taughtVerdict(Number.parseInt(stage, 10), drill.name)).toBe('pass');
    expect((await run(drill, stage, { target: impostor })).verdict).toBe('fail');
  });
});
