import { describe, expect, test } from 'vitest';
import type { Target, TargetNode } from '../../../loadtest/harness/target.ts';
import { scenario, scenarios } from '../../../loadtest/scenarios/index.ts';
import { readPage } from '../../../loadtest/scenarios/page.ts';
import { hasNothingToBreak } from '../../../loadtest/staircase/lookup.ts';
import type { SaleEvent, SaleScript } from '../../../services/inventory/sale/contract.ts';
import { deaf, held, isUnknown, lost, never, run, withNodes, withoutLinks } from './own-target.ts';

const blockedLoop = scenario('blocked-loop');
const clientGone = scenario('client-gone');
const crashedHolder = scenario('crashed-holder');
const crossedWrite = scenario('crossed-write');
const failover = scenario('failover');
const forgottenSale = scenario('forgotten-sale');
const hungHolder = scenario('hung-holder');
const lateRelease = scenario('late-release');
const lateWrite = scenario('late-write');
const longSale = scenario('long-sale');
const nestedCall = scenario('nested-call');
const overtaking = scenario('overtaking');
const partition = scenario('partition');
const pausedProcess = scenario('paused-process');
const redisOutage = scenario('redis-outage');
const slowHolder = scenario('slow-holder');
const starvation = scenario('starvation');

// A step that silently does nothing must not end in a verdict: neither in a pass because nothing happened, nor in a fail for
// another reason than the one that it gives.

/** How long a sale takes at most that nobody keeps inside, in milliseconds. */
const LEAVE_MS = 200;
/** How long after Redis a line is back, in milliseconds: the other node finds Redis first. */
const LATE_MS = 900;

/** The scripts are taken, and this is what the nodes follow. */
const scripted =
  (follow: (script: SaleScript, node: TargetNode, index: number) => SaleScript | undefined) =>
  (target: Target): Target =>
    withNodes(target, (node, index) => ({
      async script(script) {
        const followed = follow(script, node, index);
        if (followed) await node.script(followed);
      },
    }));

/** Nodes whose processes hear no signal and survive every kill. */
const immortal = (target: Target) =>
  withNodes(target, () => ({ process: { signal() {}, async kill() {}, async start() {} } }));

/** A Redis on which some of what is done to its process has no effect. */
const steadyRedis =
  (change: Partial<NonNullable<NonNullable<Target['stack']>['redisProcess']>>) =>
  (target: Target): Target => {
    const process = target.stack?.redisProcess;
    if (target.stack === undefined || process === undefined) throw new Error('There is no Redis of our own.');
    return { ...target, stack: { ...target.stack, redisProcess: { ...process, ...change } } };
  };

/** What happens when the Redis that was stopped is to go on. */
const onReturn = (target: Target, back: (goOn: () => void) => unknown): Target => {
  const { signal = () => {} } = target.stack?.redisProcess ?? {};
  return steadyRedis({ signal: (sent) => void (sent === 'SIGCONT' ? back(() => signal(sent)) : signal(sent)) })(target);
};

/** The replica copies another server than the one that it is given. */
const replicating =
  (url: (given: string) => string) =>
  (target: Target): Target => {
    const { stack } = target;
    if (stack?.startReplica === undefined) throw new Error('This Redis knows no replication.');
    const { startReplica } = stack;
    return { ...target, stack: { ...stack, startReplica: (given) => startReplica(url(given)) } };
  };

/** The replica copies from Redis itself, so that no line can be cut. */
const uncut = (target: Target) => replicating(() => target.stack?.redis.url ?? '')(target);

/** The second node does not reach Redis from the moment at which its first sale is scripted. */
const secondCutOff = (target: Target) =>
  withNodes(target, (node, index) =>
    index === 0
      ? {}
      : {
          async script(script) {
            node.link?.cut();
            await node.script(script);
          },
          async resume() {
            node.link?.restore();
            await node.resume();
          },
        },
  );

const nobodyWaited = /^No sale on node-2 waited for the lock\.$/;

describe('a fault that could not be staged is unknown', () => {
  describe('no step has an effect', () => {
    const insideFirst = scenarios
      .filter((drill) => ![longSale, redisOutage, overtaking].includes(drill) && drill.name !== 'long-wait')
      .filter(({ name }) => !hasNothingToBreak('8-auto-renew', name));
    test.each(insideFirst)('$name: nothing to sell, so nobody is inside', async (drill) => {
      isUnknown(await run(drill, '8-auto-renew', { stock: 0 }), /did not stay inside/);
    });

    test('long-sale: nothing to sell, so no sale is long', async () => {
      isUnknown(await run(longSale, '8-auto-renew', { stock: 0 }), /Not every sale stayed inside/);
    });

    test('client-gone: a lock that lets everybody in, so nobody waits', async () => {
      isUnknown(await run(clientGone, '8-auto-renew', { really: '0-none' }), /did not wait/);
    });

    test.each([starvation, overtaking])('$name: a lock that lets everybody in, so nobody waits', async (drill) => {
      isUnknown(await run(drill, '8-auto-renew', { really: '0-none' }), /did not wait/);
    });

    test('blocked-loop: the business computes nothing', async () => {
      const idle = scripted(({ blockMs, ...script }) => script);
      isUnknown(await run(blockedLoop, '8-auto-renew', { wrap: idle }), /^The event loop of node-1 was not blocked\.$/);
    });

    test('nested-call: nobody else asks for the lock', async () => {
      isUnknown(await run(nestedCall, '8-auto-renew', { wrap: deaf }), /did not ask for the lock/);
    });
  });

  describe('processes that cannot be stopped', () => {
    const withoutProcesses = (target: Target): Target => ({
      ...target,
      nodes: target.nodes.map(({ process, ...node }) => node),
    });

    test.each([crashedHolder, pausedProcess])('$name: the processes are not ours', async (drill) => {
      isUnknown(await run(drill, '8-auto-renew', { wrap: withoutProcesses }), /node-1 is not a process of this run/);
    });

    test('crashed-holder: the write has reached Redis when its node dies, which knows nothing of it', async () => {
      const late = (target: Target) =>
        withNodes(target, ({ process, link, resume }, index) => {
          if (index > 0 || process === undefined) return {};
          async function kill() {
            link?.delayReplies(10 * LEAVE_MS);
            await resume();
            await target.clock.sleep(LEAVE_MS);
            await process?.kill();
            link?.delayReplies(0);
          }
          return { process: { ...process, kill } };
        });
      isUnknown(await run(crashedHolder, '4-ttl', { wrap: late }), /had written already/);
    });

    test('paused-process: nobody tells when the holder has left', async () => {
      const isTold = ({ type }: SaleEvent) => type !== 'left';
      const silent = (target: Target) =>
        withNodes(target, ({ follow, history }) => ({
          follow: (onPush) =>
            follow((push, isFirst) => onPush({ ...push, events: push.events.filter(isTold) }, isFirst)),
          async history() {
            const { events, ...rest } = await history();
            return { ...rest, events: events.filter(isTold) };
          },
        }));
      isUnknown(await run(pausedProcess, '4-ttl', { wrap: silent }), /did not fall into the pause/);
    });

    test.each(['4-ttl', '8-auto-renew'])('paused-process under %s: the signal does nothing', async (stage) => {
      isUnknown(await run(pausedProcess, stage, { wrap: immortal }), /still answers after SIGSTOP/);
    });
  });

  describe('commands that are not held', () => {
    test.each([lateRelease, lateWrite, crossedWrite, partition, starvation])(
      '$name: there is no link',
      async (drill) => {
        isUnknown(await run(drill, '8-auto-renew', { wrap: withoutLinks }), /without a link/);
      },
    );

    test.each([lateRelease, lateWrite, crossedWrite])('$name: the link never sees the command', async (drill) => {
      isUnknown(await run(drill, '8-auto-renew', { wrap: never }), /never saw the command/);
    });

    test.each([
      { drill: lateRelease, name: 'late-release', stage: '3-spin' },
      { drill: lateWrite, name: 'late-write', stage: '3-spin' },
      { drill: crossedWrite, name: 'crossed-write', stage: '3-spin' },
    ])('$name under $stage: what was held never reaches Redis', async ({ drill, stage }) => {
      isUnknown(await run(drill, stage, { wrap: lost }), /never reached Redis/);
    });
  });

  describe('lines that are not cut', () => {
    const whole = (target: Target) =>
      withNodes(target, ({ link }) => (link ? { link: { ...link, cut() {}, restore() {} } } : {}));

    test.each([partition, starvation])('$name: the cut cuts nothing', async (drill) => {
      const outcome = await run(drill, '8-auto-renew', { wrap: whole });
      isUnknown(outcome, /^node-\d still reached the servers of its lock\.$/);
    });
  });

  describe('a failover that does not take place', () => {
    test('failover: the replica copies nothing', async () => {
      const nowhere = replicating(() => 'redis://127.0.0.1:1');
      isUnknown(await run(failover, '8-auto-renew', { wrap: nowhere }), /has not copied/);
    });

    test('failover: the nodes are not led to the replica', async () => {
      const fixed = (target: Target) =>
        withNodes(target, ({ link }) => (link ? { link: { ...link, moveTo() {} } } : {}));
      isUnknown(await run(failover, '8-auto-renew', { wrap: fixed }), /did not reach Redis/);
    });
  });
});

describe('an outage that is none is unknown', () => {
  test.each([
    { what: 'stop', change: { signal() {} } },
    { what: 'die', change: { async kill() {}, async start() {} } },
  ])('redis-outage: Redis does not $what', async ({ change }) => {
    isUnknown(await run(redisOutage, '8-auto-renew', { wrap: steadyRedis(change) }), /Redis answered/);
  });
});

test('redis-outage: nobody at node-2 has asked when node-1 finds Redis again', async () => {
  const late = (target: Target) => {
    const line = target.nodes[1]?.link;
    return onReturn(target, (goOn) => {
      line?.cut('silent');
      void target.clock.sleep(LATE_MS).then(() => line?.restore());
      goOn();
    });
  };

  isUnknown(
    await run(redisOutage, '8-auto-renew', { wrap: late }),
    /^Nobody at node-2 asked for the lock before the other node /,
  );
});

test('redis-outage: a shop that does not sell again is no reason to know nothing', async () => {
  const slow = (target: Target) =>
    onReturn(target, (goOn) => {
      for (const node of target.nodes) void node.script({ pauseMs: 3_000, times: 100 });
      goOn();
    });

  expect(await run(redisOutage, 'fenced', { wrap: slow })).toMatchObject({
    verdict: 'fail',
    reasons: [expect.stringMatching(/no sale within 2 s of its return/)],
  });
});

test('overtaking: a drill that a server kept from its end is played again', async () => {
  let asked = 0;
  const hesitant = (target: Target) =>
    withNodes(target, (node) => ({
      async redis() {
        if (asked++ === 0) throw new Error('Redis does not answer.');
        return node.redis();
      },
    }));

  expect(await run(overtaking, 'fair', { wrap: hesitant, tries: 2 })).toMatchObject({ verdict: 'pass' });
});

/** Nodes that keep nothing in memory. */
const forgetful = (target: Target) => withNodes(target, () => ({ heap: async () => 0 }));

/** The holder goes on when the node is asked why so few tries were made. */
const leaving = (target: Target) =>
  withNodes(forgetful(target), (node) => ({
    async redis() {
      await target.nodes[0]?.resume();
      await target.clock.sleep(LEAVE_MS);
      return node.redis();
    },
  }));

test.each([
  ['before', ['the buyers hang up'], forgetful],
  ['while the node is asked', [], leaving],
])('long-wait: buyers who are gone %s do not say that the lock never tries', async (_, gone, wrap) => {
  const page = [
    ...['tries', 'Does waiting cost memory?', 'A sells at node-1 and is held inside'],
    ...['2 buyers come to node-2, and wait', ...gone],
    ...['node-2 tries 90 times, for 1 s at most, and its memory is measured'],
    'holds when a try keeps fewer than 60 bytes',
  ];
  const outcome = await run(readPage(page.join('\n')), 'blocking', { wrap });

  isUnknown(outcome, /^Some of the buyers at node-2 did not wait any more\.$/);
  expect(outcome.nothingToBreak).toBe(false);
});

test.each([
  ['3-spin', false],
  ['blocking', true],
])('long-wait: few tries of %s on a slow machine have nothing to break: %s', async (stage, nothingToBreak) => {
  const page = [
    ...['tries', 'Does waiting cost memory?', 'a lease lasts 60 s', 'who waits tries again at once'],
    ...['A sells at node-1 and is held inside', '2 buyers come to node-2, and wait'],
    'the line of node-2 is slow: each answer of Redis comes 400 ms late',
    ...['node-2 tries 90 times, for 1 s at most, and its memory is measured'],
    'holds when a try keeps fewer than 60 bytes',
  ];
  const outcome = await run(readPage(page.join('\n')), stage, { wrap: forgetful });

  isUnknown(outcome, /^Only \d tries were made: too few to measure\.$/);
  expect(outcome.nothingToBreak).toBe(nothingToBreak);
});

test.each([
  { really: '8-auto-renew', verdict: 'fail', figures: { lostUpdates: 1 } },
  { really: 'fenced', verdict: 'pass', figures: { lostUpdates: 0, inDoubt: 1 } },
])('late-batch: a lock of one sale at a time, as $really: $verdict', async ({ really, ...expected }) => {
  expect(await run(scenario('late-batch'), 'combine', { really })).toMatchObject(expected);
});

/** How long the sales at node-2 take, in milliseconds: the line of node-1 is back while one of them is inside, sooner or later in it. */
const stays = [74, 76, 78, 80, 82, 84, 86, 88, 90];

test.each(['2-recursive-retry', '3-spin', '4-ttl'].flatMap((stage) => stays.map((ms) => ({ stage, ms }))))(
  'redis-outage under $stage: node-1 deletes the key of another, also when sales at node-2 take $ms ms',
  async ({ stage, ms }) => {
    const wrap = scripted((script, _node, index) =>
      index === 1 && script.pauseMs ? { ...script, pauseMs: ms } : script,
    );

    expect(await run(redisOutage, stage, { wrap })).toMatchObject({
      verdict: 'fail',
      reasons: [expect.stringMatching(/^The stock is /)],
    });
  },
);

// Here a drill still ends in a verdict, for another reason than the one that it gives.
describe('a fault that was not there, and is not missed', () => {
  describe('no second sale could have taken place', () => {
    test.each([lateWrite, pausedProcess, blockedLoop, partition])(
      '$name: the second node does not reach Redis',
      async (drill) => {
        isUnknown(await run(drill, '8-auto-renew', { wrap: secondCutOff }), nobodyWaited);
      },
    );

    test.each([lateRelease, crossedWrite])('$name: the second node does not reach Redis', async (drill) => {
      const outcome = await run(drill, '8-auto-renew', { wrap: secondCutOff });
      isUnknown(outcome, /^The sale on node-2 did not stay inside: it was answered STORE_UNAVAILABLE\.$/);
    });

    test('failover: the second node does not reach the new Redis', async () => {
      const outcome = await run(failover, '1-in-process', { wrap: secondCutOff });
      isUnknown(outcome, nobodyWaited);
    });

    test('crashed-holder: the second node does not answer', async () => {
      isUnknown(await run(crashedHolder, '8-auto-renew', { wrap: deaf }), nobodyWaited);
    });
  });

  describe('the step that matters has no effect', () => {
    test.each(['3-spin', '4-ttl'])('crashed-holder under %s: the kill kills nothing', async (stage) => {
      isUnknown(await run(crashedHolder, stage, { wrap: immortal }), /^node-1 still answers after it was killed\.$/);
    });

    test('nested-call under 6-lua-release: nobody asks again', async () => {
      const flat = scripted(({ nestedCall, ...script }) => script);
      isUnknown(
        await run(nestedCall, '6-lua-release', { wrap: flat }),
        /^The sale did not ask for its own lock again\.$/,
      );
    });

    test.each([
      { drill: lateRelease, name: 'late-release', stage: '5-owner-check', why: /the release was not late\.$/ },
      { drill: lateWrite, name: 'late-write', stage: '8-auto-renew', why: /^The write was not held up\.$/ },
      { drill: crossedWrite, name: 'crossed-write', stage: '8-auto-renew', why: /^The write was not held up\.$/ },
    ])('$name under $stage: the command is let go as soon as it comes', async ({ drill, stage, why }) => {
      const atOnce = held((command) => ({
        arrived: command.arrived.then(async (arrived) => {
          await command.letGo();
          return arrived;
        }),
      }));
      isUnknown(await run(drill, stage, { wrap: atOnce }), why);
    });

    test('crossed-write: a sale that reads and writes in one step has read nothing when the late write comes', async () => {
      const outcome = await run(crossedWrite, '8-auto-renew', { really: 'redis-atomic' });
      isUnknown(outcome, /^Sale \d+ had not read the stock when the late write came: .*one step\.$/);
      expect(outcome.nothingToBreak).toBe(true);
    });

    test.each([failover, forgottenSale])('$name: the line is not cut, so the replica knows it all', async (drill) => {
      isUnknown(
        await run(drill, '8-auto-renew', { wrap: uncut }),
        /^The replica has heard of what came after the cut\.$/,
      );
    });
  });

  describe('the holder has left before the fault', () => {
    test.each([
      { drill: crashedHolder, name: 'crashed-holder', stage: '3-spin', at: 0 },
      { drill: slowHolder, name: 'slow-holder', stage: '4-ttl', at: 0 },
      { drill: hungHolder, name: 'hung-holder', stage: '8-auto-renew', at: 1 },
      { drill: partition, name: 'partition', stage: '8-auto-renew', at: 2 },
      { drill: failover, name: 'failover', stage: '8-auto-renew', at: 2 },
      { drill: clientGone, name: 'client-gone', stage: '8-auto-renew', at: 0 },
    ])('$name under $stage', async ({ drill, stage, at }) => {
      let narrated = 0;
      const outcome = await run(drill, stage, {
        narrateOn:
          ({ nodes: [holder], clock }) =>
          async () => {
            if (narrated++ !== at) return;
            await holder?.resume();
            await clock.sleep(LEAVE_MS);
          },
      });
      isUnknown(outcome, /^Sale \d+ on node-1 was not inside any more\.$/);
    });
  });
});
