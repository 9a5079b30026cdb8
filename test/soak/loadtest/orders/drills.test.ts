// The drills of the orders on real servers; no virtual world has a MySQL. What the story tells is held by its own run:
// commands/stories.test.ts.

import { describe, expect, test } from 'vitest';
import type { Drill } from '../../../../loadtest/harness/drill.ts';
import type { Target } from '../../../../loadtest/harness/target.ts';
import { exerciseDrills } from '../../../../loadtest/orders/index.ts';
import { drillsOf, tracks } from '../../../../loadtest/run/tracks.ts';
import { verdictExpected } from '../../../../loadtest/staircase/lookup.ts';
import { figuresAsDrawn, ownOrderTargets } from '../../../loadtest/orders/own-order-targets.ts';
import { withNodes } from '../../../loadtest/worlds/simulated/own-target.ts';

const drillNamed = (name: string) =>
  [...drillsOf('orders'), ...exerciseDrills].find((drill) => drill.name === name) as Drill;
const run = ownOrderTargets();

/** The guards that the story leaves aside: each under the fault that parts the guards, or under the one that parts it from its neighbours. */
const aside: Record<string, string> = {
  'guard-2-recursive-retry': 'job-crashes-half-way',
  'guard-3-spin': 'job-crashes-half-way',
  'guard-4-ttl': 'job-outlives-lease',
  'guard-5-owner-check': 'job-outlives-lease',
  'guard-7-reentrant': 'job-outlives-lease',
  'guard-blocking': 'double-restore',
  'guard-fair': 'same-node-twice',
  'guard-cohort': 'clock-skew',
  'guard-fenced': 'job-outlives-lease',
  'guard-mysql-named': 'job-crashes-half-way',
};

describe('a guard that the story leaves aside does as drawn', () => {
  test('every one of them is played', () => {
    const rows = tracks.orders.flatMap(({ staircase }) => Object.entries(staircase.rows));
    expect(Object.keys(aside)).toEqual(rows.flatMap(([name, { isAside }]) => (isAside ? [name] : [])));
  });

  test.each(Object.entries(aside))('%s in %s', async (row, name) => {
    const { verdict, reasons, evidence, figures } = await run(drillNamed(name), row);

    const expected = verdictExpected(row, name);
    expect({ verdict, reasons }).toMatchObject({ verdict: expected });
    expect(evidence.length > 0).toBe(expected === 'fail');
    expect(figures).toMatchObject(figuresAsDrawn(row, name));
  });
});

type Wrap = (target: Target) => Target;
/** Nodes that do not do what a drill tells them. */
const deaf: Wrap = (target) => withNodes(target, () => ({ async script() {}, async scriptTick() {} }));
/** Nodes whose processes survive every kill. */
const immortal: Wrap = (target) =>
  withNodes(target, () => ({ process: { signal() {}, async kill() {}, async start() {} } }));
/** The second node ticks to its end, whatever it is told. */
const halfDeaf: Wrap = (target) => withNodes(target, (_, index) => (index === 1 ? { async scriptTick() {} } : {}));
const nothingDone = { node: 'node', guard: 'none', due: 0, closed: 0, restored: 0, ms: 0 };
/** Ticks that are reported and never happen. */
const idle: Wrap = (target) =>
  withNodes(target, () => ({ tick: async () => ({ outcome: 'ran' as const, ...nothingDone }) }));
/** Nodes that tick when they are told to, and never by themselves. */
const unscheduled: Wrap = (target) => withNodes(target, () => ({ async setSchedule() {} }));
/** A tick that is held by a script goes on soon. */
const hasty: Wrap = (target) =>
  withNodes(target, (node) => ({
    async ticks() {
      const ticks = await node.ticks();
      if (ticks.held > 0) setTimeout(() => void node.resume(), 100);
      return ticks;
    },
  }));
/** A node that nobody reaches. */
const lonely: Wrap = (target) =>
  withNodes(target, (_, index) => (index === 1 ? { publicUrl: 'http://127.0.0.1:1' } : {}));
/** A command that is to be held passes at once. */
const leaky: Wrap = (target) =>
  withNodes(target, ({ link }) => {
    if (link === undefined) return {};
    const holdNext: typeof link.holdNext = (meant) => {
      const held = link.holdNext(meant);
      held.arrived.then(held.letGo, () => {});
      return held;
    };
    return { link: { ...link, holdNext } };
  });
/** The load balancer sends nothing to another node: it is one. */
const straight: Wrap = (target) => ({ ...target, url: target.nodes[0]?.publicUrl ?? '' });
/** Its orders are made by somebody else. */
const renamed: Wrap = (target) => withNodes(target, ({ name }) => ({ name: `another ${name}` }));
/** Its nodes book no payments. */
const unpaid: Wrap = (target) => target;

test('what can be put back is put back when something else can not be', async () => {
  const wrap: Wrap = (target) =>
    withNodes(target, () => ({ clear: () => Promise.reject(new Error('The stock stays.')) }));

  // That no order is left is looked at after each run.
  await expect(run(drillNamed('double-restore'), 'guard-conditional', { wrap })).rejects.toThrow('The stock stays.');
});

describe('a drill whose fault is prevented is unknown', () => {
  test.each<[string, string, Wrap, RegExp]>([
    ['same-node-twice', 'guard-none', deaf, /was not held/],
    ['double-restore', 'guard-conditional', idle, /was not held/],
    ['double-restore', 'guard-none', halfDeaf, /had restored 100 when the run on node-2 ended/],
    ['clock-skew', 'guard-none', deaf, /was not held/],
    ['job-outlives-lease', 'guard-conditional', idle, /was not held/],
    ['job-crashes-half-way', 'guard-conditional', immortal, /still responds after it was killed/],
    ['runs-overlap', 'schedule-fixed-delay', hasty, /did not take that long/],
    ['runs-pile-up', 'schedule-fixed-rate', unscheduled, /started by itself and was held/],
    ['double-click', 'key-lock', deaf, /did not stay inside/],
    ['refund-twice', 'key-table', lonely, /got no response/],
    ['retry-after-timeout', 'key-table', lonely, /got no response/],
    ['crash-before-answer', 'key-table', immortal, /still responds after it was killed/],
    ['crash-between-writes', 'stores-database-decides-0-none', immortal, /still responds after it was killed/],
    ['next-upstream', 'key-none', straight, /did not send the click|neither/],
    ['next-upstream', 'key-none', renamed, /The order was created by node-/],
    ['redelivered', 'key-none', leaky, /had acknowledged its message before it was killed/],
    ['clicks-at-once', 'key-none', lonely, /node-2 does not respond/],
    ['crossed-ticks', 'guard-conditional', idle, /was not held/],
    ['killed-at-work', 'guard-none', unpaid, /No node tried to book/],
    ['booking-fails', 'guard-none', unpaid, /No node tried to book/],
    ['sent-twice', 'guard-none', unpaid, /The payment was not booked/],
  ])('%s under %s', async (name, row, wrap, why) => {
    const { verdict, reasons } = await run(drillNamed(name), row, { wrap });

    expect({ verdict, reasons }).toEqual({ verdict: 'unknown', reasons: [expect.stringMatching(why)] });
  });
});
