import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { drillsOf, tracks } from '../../../../loadtest/commands/tracks.ts';
import type { StepFigures } from '../../../../loadtest/evidence/results.ts';
import type { Drill, DrillOutcome } from '../../../../loadtest/harness/drill.ts';
import type { Target, TargetNode } from '../../../../loadtest/harness/target.ts';
import { exerciseDrills } from '../../../../loadtest/orders/drills/index.ts';
import { PAYMENT_MIN_IDLE_MS } from '../../../../loadtest/staircase/keys.ts';
import { taughtVerdict } from '../../../../loadtest/staircase/lookup.ts';
import { ANSWER_LIMIT_MS } from '../../../../locks/drivers/answer-limit.ts';
import { withNodes } from '../../../loadtest/drills/own-targets.ts';
import { figuresAsDrawn, type OrderDrillOptions, ownOrderTargets } from '../../../loadtest/orders/own-order-targets.ts';

const drillNamed = (name: string) =>
  [...drillsOf('orders'), ...exerciseDrills].find((drill) => drill.name === name) as Drill;

/**
 * The drills that each guard runs here which the story leaves aside. What the story tells is held by the test of
 * `npm start -- --track orders`, and all that is drawn by `npm run staircase -- --track orders`. Chosen are: each guard with the
 * fault that parts the guards, and with one that parts it from its neighbours or, where none does, one of the others in turns;
 * and each drill with each kind of lock: one that is never given up, one with a lease, one with a queue, one in MySQL.
 */
const chosen: Record<string, string[]> = {
  'guard-2-recursive-retry': ['double-restore', 'job-crashes-half-way'],
  'guard-3-spin': ['same-node-twice', 'clock-skew', 'job-outlives-lease', 'job-crashes-half-way'],
  'guard-4-ttl': ['same-node-twice', 'job-outlives-lease'],
  'guard-5-owner-check': ['double-restore', 'job-outlives-lease'],
  'guard-7-reentrant': ['clock-skew', 'job-outlives-lease', 'job-crashes-half-way'],
  'guard-blocking': ['double-restore', 'job-outlives-lease'],
  'guard-fair': ['same-node-twice', 'job-outlives-lease', 'job-crashes-half-way'],
  'guard-cohort': ['clock-skew', 'job-outlives-lease'],
  'guard-fenced': ['job-outlives-lease', 'job-crashes-half-way'],
  'guard-mysql-named': tracks.orders[0]?.drills.map(({ name }) => name) ?? [],
};
const cells = Object.entries(chosen).flatMap(([row, names]) =>
  names.map((name) => ({ drill: drillNamed(name), name, row, taught: taughtVerdict(row, name) })),
);

test('every guard that the story leaves aside runs here, under the fault that parts the guards among others', () => {
  const aside = tracks.orders.flatMap(({ staircase: { rows } }) =>
    Object.entries(rows).flatMap(([name, { isAside }]) => (isAside ? [name] : [])),
  );
  expect(Object.keys(chosen)).toEqual(aside);
  for (const { taught } of cells) expect(taught).not.toBeNull();
});

const figuresOf = ({ figures }: DrillOutcome) => figures as StepFigures;

const run = ownOrderTargets(4);

describe.concurrent('orders: every guard that the story leaves aside does as drawn', { timeout: 600_000 }, () => {
  test.each(cells)('$row in $name: $taught', async ({ drill, name, row, taught }) => {
    let hasSteps = false;
    const narrate = async (_sentence: string, _atMs: number, isStep: boolean) => {
      hasSteps ||= isStep;
    };

    const outcome = await run(drill, row, { narrate });

    const { verdict, reasons, witnesses } = outcome;
    expect({ verdict, reasons }).toEqual({ verdict: taught, reasons: [expect.stringMatching(/\S.*\.$/s)] });
    expect(witnesses.length > 0).toBe(taught === 'fail');
    expect(hasSteps).toBe(true);
    expect(figuresOf(outcome)).toMatchObject(figuresAsDrawn(row, name));
  });
});

describe.concurrent('orders: a drill of the exercises tells what holds from what does not', {
  timeout: 600_000,
}, () => {
  const twice = { orders: 2 };
  const once = { orders: 1 };
  const booked = { messages: 1, payments: 1 };
  test.each([
    ['clicks-at-once', 'key-none', 'fail', twice],
    ['clicks-at-once', 'key-in-process', 'fail', twice],
    ['clicks-at-once', 'key-lock', 'pass', once],
    ['clicks-at-once', 'key-table', 'pass', once],
    ['crossed-ticks', 'guard-none', 'fail', { due: 1, restored: 2, closed: 1 }],
    ['crossed-ticks', 'guard-8-auto-renew', 'pass', { due: 1, restored: 1, closed: 1 }],
    ['crossed-ticks', 'guard-conditional', 'pass', { due: 1, restored: 1, closed: 1 }],
    ['killed-at-work', 'key-none', 'pass', booked],
    ['killed-at-work', 'key-table', 'pass', booked],
    ['booking-fails', 'key-none', 'pass', booked],
    ['sent-twice', 'key-none', 'fail', { messages: 2, payments: 2 }],
    ['sent-twice', 'key-table', 'pass', { messages: 2, payments: 1 }],
  ] as const)('%s under %s: %s', async (name, row, expected, figures) => {
    const outcome = await run(drillNamed(name), row);

    const { verdict, reasons, witnesses } = outcome;
    expect({ verdict, reasons }).toEqual({ verdict: expected, reasons: [expect.stringMatching(/\S.*\.$/s)] });
    expect(witnesses.length > 0).toBe(expected === 'fail');
    expect(figuresOf(outcome)).toMatchObject(figures);
  });
});

/** Nodes that do not do what a drill tells them. */
const deaf = (target: Target) => withNodes(target, () => ({ async script() {}, async scriptTick() {} }));
/** Deaf nodes; who narrates a step waits until they have done what they were asked for. */
const deafAndQuick = (): OrderDrillOptions => {
  let nodes: TargetNode[] = [];
  const isBusy = async () =>
    (await Promise.all(nodes.map((node) => node.state()))).some(({ inFlight }) => inFlight > 0);
  return {
    wrap(target) {
      nodes = target.nodes;
      return deaf(target);
    },
    async narrate() {
      while (await isBusy()) await sleep(10);
    },
  };
};
/** Nodes whose processes survive every kill. */
const immortal = (target: Target) =>
  withNodes(target, () => ({ process: { signal() {}, async kill() {}, async start() {} } }));
const nothingDone = { node: 'node', guard: 'none', due: 0, closed: 0, restored: 0, ms: 0 };
/** Ticks that are reported and never happen. */
const idle = (target: Target) =>
  withNodes(target, () => ({ tick: async () => ({ outcome: 'ran' as const, ...nothingDone }) }));
/** Nodes that tick when they are told to, and never by themselves. */
const unscheduled = (target: Target) => withNodes(target, () => ({ async setSchedule() {} }));
/** A tick that is held by a script goes on soon. */
const hasty = (target: Target) =>
  withNodes(target, (node) => ({
    async ticks() {
      const ticks = await node.ticks();
      if (ticks.held > 0) setTimeout(() => void node.resume(), 100);
      return ticks;
    },
  }));
/** A node that nobody reaches. */
const lonely = (target: Target) =>
  withNodes(target, (_, index) => (index === 1 ? { publicUrl: 'http://127.0.0.1:1' } : {}));
/** A command that is to be held passes at once. */
const leaky = (target: Target) =>
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
const straight = (target: Target): Target => ({ ...target, url: target.nodes[0]?.publicUrl ?? '' });

describe.concurrent('orders: a drill whose fault is prevented is unknown', { timeout: 600_000 }, () => {
  test.each([
    ['same-node-twice', 'guard-none', deaf, /did not stay/],
    ['same-node-twice', 'guard-conditional', idle, /did not stay/],
    ['double-restore', 'guard-none', deaf, /did not stay/],
    ['double-restore', 'guard-6-lua-release', deaf, /did not stay/],
    ['double-restore', 'guard-conditional', idle, /did not stay/],
    ['clock-skew', 'guard-none', deaf, /did not stay/],
    ['clock-skew', 'guard-8-auto-renew', idle, /did not stay/],
    ['job-outlives-lease', 'guard-6-lua-release', deaf, /did not stay/],
    ['job-outlives-lease', 'guard-conditional', idle, /did not stay/],
    ['job-crashes-half-way', 'guard-none', deaf, /did not stay/],
    ['job-crashes-half-way', 'guard-conditional', immortal, /still answers after it was killed/],
    ['runs-overlap', 'schedule-cron', deaf, /came by itself and stayed/],
    ['runs-overlap', 'schedule-fixed-delay', hasty, /did not take so long/],
    ['runs-pile-up', 'schedule-fixed-rate', unscheduled, /came by itself and stayed/],
    ['runs-pile-up', 'schedule-cron', hasty, /did not take so long/],
    ['one-node-click', 'key-none', deaf, /did not stay inside/],
    ['one-node-click', 'key-table', deaf, /did not stay inside/],
    ['double-click', 'key-lock', deaf, /did not stay inside/],
    ['refund-twice', 'key-none', lonely, /got no answer/],
    ['refund-twice', 'key-table', lonely, /got no answer/],
    ['retry-after-timeout', 'key-table', lonely, /got no answer/],
    ['crash-before-answer', 'key-none', deaf, /had answered before|No order was written/],
    ['crash-before-answer', 'key-table', immortal, /still answers after it was killed/],
    ['next-upstream', 'key-none', straight, /did not send the click|neither/],
    ['next-upstream', 'key-table', immortal, /still answers after it was killed/],
    ['redelivered', 'key-none', leaky, /had acknowledged its message before it was killed/],
    ['redelivered', 'key-table', immortal, /still answers after it was killed/],
    ['clicks-at-once', 'key-none', lonely, /node-2 does not answer/],
    ['crossed-ticks', 'guard-none', deaf, /did not stay/],
    ['crossed-ticks', 'guard-conditional', idle, /did not stay/],
    ['killed-at-work', 'key-none', immortal, /still answers after it was killed/],
    // Its nodes book no payments.
    ['killed-at-work', 'guard-none', (target: Target) => target, /No node has come to book/],
    ['booking-fails', 'guard-none', (target: Target) => target, /No node has come to book/],
    ['sent-twice', 'guard-none', (target: Target) => target, /The payment was not booked/],
  ] as const)('%s under %s', async (name, row, wrap, why) => {
    const { verdict, reasons } = await run(drillNamed(name), row, { wrap });

    expect({ verdict, reasons }).toEqual({ verdict: 'unknown', reasons: [expect.stringMatching(why)] });
  });
});

/** From the first sentence on, the tick of this number fails, on whichever node it is. */
const tickFails = (number: number) => (): OrderDrillOptions => {
  let ticks = Number.NEGATIVE_INFINITY;
  const failed = { outcome: 'failed' as const, ...nothingDone, detail: 'as the test wants it' };
  return {
    async narrate() {
      ticks = Math.max(ticks, 0);
    },
    wrap: (target) =>
      withNodes(target, (node) => ({
        async tick() {
          ticks += 1;
          if (ticks !== number) return node.tick();
          // The one that all wait for has begun.
          if (number === 1) await node.tick();
          return failed;
        },
      })),
  };
};

/** The second node, or nginx, answers everybody so. What comes to nginx is sent on all the same. */
function answers(who: 'node-2' | 'nginx', status: number, body: object): () => OrderDrillOptions {
  let nginxUrl = '';
  const server = createServer(async ({ url = '', headers }, response) => {
    const key = { 'idempotency-key': String(headers['idempotency-key']) };
    if (who === 'nginx') await fetch(`${nginxUrl}${url}`, { headers: key });
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  afterAll(() => void server.close());
  const wrap = (target: Target) => {
    nginxUrl = target.url;
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    if (who === 'nginx') return { ...target, url };
    return withNodes(target, (_, index) => (index === 1 ? { publicUrl: url } : {}));
  };
  return () => ({ wrap });
}

/** The node is killed so late that its message has been taken over: by the other one, or by itself. */
const sleepyAudience = (): OrderDrillOptions => ({
  tries: 1,
  async narrate(sentence) {
    if (sentence.endsWith('Its XACK is held on its way.')) await sleep(2 * PAYMENT_MIN_IDLE_MS);
  },
});

/** The row that the first refund waits for stays locked for longer than a statement may take. */
const slowAudience = (): OrderDrillOptions => ({
  async narrate(sentence) {
    if (sentence.endsWith('is about to write that it is refunded.')) await sleep(2 * ANSWER_LIMIT_MS);
  },
});

const failing = { code: 'STORE_UNAVAILABLE' };
const lostItsLock = /did not stay: it failed \((The lock \S+ was no longer held|as the test wants it)/;

describe.concurrent('orders: a drill in which a request or a tick failed is unknown', { timeout: 600_000 }, () => {
  test.each([
    ['same-node-twice', 'guard-none', tickFails(2), /tick of node-1 failed/],
    ['double-restore', 'guard-none', tickFails(2), /tick of node-2 failed/],
    ['clock-skew', 'guard-none', tickFails(2), /tick of node-2 failed/],
    ['job-outlives-lease', 'guard-6-lua-release', tickFails(2), /tick of node-2 failed/],
    ['job-outlives-lease', 'guard-6-lua-release', tickFails(1), /tick of node-1 failed/],
    ['job-crashes-half-way', 'guard-conditional', tickFails(2), /tick of node-2 failed/],
    ['double-click', 'key-table', answers('node-2', 503, failing), /answered 503/],
    ['refund-twice', 'key-none', slowAudience, /answered 503 STORE_UNAVAILABLE/],
    ['retry-after-timeout', 'key-none', answers('node-2', 503, failing), /The repeat was answered 503/],
    ['crash-before-answer', 'key-none', answers('node-2', 503, failing), /The repeat was answered 503/],
    ['next-upstream', 'key-table', answers('nginx', 503, failing), /The repeat was answered 503/],
    ['retry-after-timeout', 'key-table', answers('node-2', 200, { orderId: 'elsewhere' }), /has no such order/],
    ['clicks-at-once', 'key-none', answers('node-2', 200, {}), /answered sooner than the servers|came so late/],
    ['retry-after-timeout', 'key-none', deafAndQuick, /did not keep its answer/],
    ['redelivered', 'key-table', sleepyAudience, /before (it|node-[12]) was killed\.$/],
  ] as const)('%s under %s', async (name, row, options, why) => {
    let outcome = await run(drillNamed(name), row, options());
    // A disk that is slow for a lease ends the lock of a tick that nothing is to happen to.
    for (let again = 0; again < 2 && lostItsLock.test(outcome.reasons[0] ?? ''); again += 1)
      outcome = await run(drillNamed(name), row, options());

    const { verdict, reasons } = outcome;
    expect({ verdict, reasons }).toEqual({ verdict: 'unknown', reasons: [expect.stringMatching(why)] });
  });

  test('runs-overlap: a slow tick that is seen late takes no longer for that', async () => {
    let isSeen = false;
    const late = (target: Target) =>
      withNodes(target, (node) => ({
        async ticks() {
          const ticks = await node.ticks();
          if (ticks.held > 0 && !isSeen) await sleep(700);
          isSeen ||= ticks.held > 0;
          return ticks;
        },
      }));
    const outcome = await run(drillNamed('runs-overlap'), 'schedule-cron', { wrap: late });

    expect(outcome).toMatchObject({ verdict: 'fail', figures: { meanwhile: 3 } });
  });

  test('clock-skew: a late tick that comes too late for the minimum hold has no figure, and the fault is judged', async () => {
    const tardy = (target: Target) =>
      withNodes(target, (node) => ({
        async tick() {
          await sleep(600);
          return node.tick();
        },
      }));
    const outcome = await run(drillNamed('clock-skew'), 'guard-conditional', { wrap: tardy, tries: 4 });

    expect(outcome.verdict).toBe('pass');
    expect(figuresOf(outcome)).toMatchObject({ due: 100, restored: 100, lateRuns: 1 });
    expect(figuresOf(outcome)).not.toHaveProperty('lateRunsWithHold');
  });
});

describe.concurrent('orders: a drill that is stopped half way leaves the stack as it was', { timeout: 600_000 }, () => {
  test.each([
    ['double-restore', 'guard-none', 2],
    ['job-outlives-lease', 'guard-8-auto-renew', 2],
    ['job-crashes-half-way', 'guard-zookeeper', 2],
    ['double-click', 'key-none', 2],
    ['refund-twice', 'key-none', 2],
    ['crash-before-answer', 'key-lock', 2],
    ['redelivered', 'key-lock', 2],
  ] as const)('%s under %s', async (name, row, sentences) => {
    const stopping = new AbortController();
    let narrated = 0;
    const narrate = async () => {
      narrated += 1;
      if (narrated === sentences) stopping.abort(new Error('stopped'));
    };

    await expect(run(drillNamed(name), row, { narrate, signal: stopping.signal })).rejects.toThrow('stopped');
  });
});

describe('orders: what the servers at hand can’t carry is not applicable, and says why', () => {
  test.each([
    ['double-restore', 'guard-none', 'mysql'],
    ['double-restore', 'guard-zookeeper', 'zookeeper'],
    ['job-crashes-half-way', 'guard-none', 'node processes'],
    ['same-node-twice', 'guard-conditional', 'own mysql'],
    ['refund-twice', 'key-table', 'mysql'],
    ['refund-twice', 'key-table', 'own mysql'],
    ['next-upstream', 'key-table', 'node processes'],
    ['redelivered', 'key-table', 'links'],
    ['clicks-at-once', 'key-table', 'links'],
    ['killed-at-work', 'key-table', 'node processes'],
    ['booking-fails', 'key-table', 'own mysql'],
  ] as const)('%s under %s without %s', async (name, row, need) => {
    const sentence = `Here is no such thing as ${need}.`;
    const lacking = (target: Target): Target => ({ ...target, lacks: { [need]: sentence } });

    expect(await run(drillNamed(name), row, { wrap: lacking })).toMatchObject({
      verdict: 'not-applicable',
      reasons: [sentence],
    });
  });
});
