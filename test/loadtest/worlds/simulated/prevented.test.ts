import { expect, test } from 'vitest';
import type { Target, TargetNode } from '../../../../loadtest/harness/target.ts';
import { scenario, scenarios } from '../../../../loadtest/scenarios/index.ts';
import { readScenario } from '../../../../loadtest/scenarios/read.ts';
import { hasNothingToBreak } from '../../../../loadtest/staircase/lookup.ts';
import type { SaleEvent, SaleScript } from '../../../../services/inventory/sale/contract.ts';
import {
  deaf,
  figuresOf,
  held,
  isUnknown,
  lost,
  never,
  type RunOptions,
  run,
  timelineOf,
  withNodes,
  withoutLinks,
} from './own-target.ts';

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
    if (stack?.startReplica === undefined) throw new Error('This Redis does not support replication.');
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

const nobodyWaited = '^No sale on node-2 waited for the lock(: STORE_UNAVAILABLE)?.$';

type Link = NonNullable<TargetNode['link']>;
type Stack = NonNullable<Target['stack']>;

/** The links of the nodes to Redis do something else. */
const linked = (change: (link: Link) => object) => (target: Target) =>
  withNodes(target, ({ link }) => (link ? { link: { ...link, ...change(link) } } : {}));

/** The links of the nodes to the masters do something else. */
const toMasters = (change: object) => (target: Target) =>
  withNodes(target, ({ masterLinks = [] }) => ({ masterLinks: masterLinks.map((link) => ({ ...link, ...change })) }));

/** The stack that is ours does something else. */
const stacked = (change: (stack: Stack) => Partial<Stack>) => (target: Target) => {
  if (target.stack === undefined) throw new Error('There is no stack of our own.');
  return { ...target, stack: { ...target.stack, ...change(target.stack) } };
};

/** Masters on which some of what is done to their processes has no effect. */
const steadyMasters = (change: object) =>
  stacked(({ masters }) => ({
    masters: masters.map(({ url, process }) => ({ url, ...(process && { process: { ...process, ...change } }) })),
  }));

/** Its clock can't be set. */
const rightClock = stacked((stack) => ({
  startClockServer: async () => ({ ...(await stack.startClockServer()), setAhead() {} }),
}));

/** Of the second sku another stock is read. */
const miscounted = (by: number) => (target: Target) =>
  withNodes(target, ({ stock }) => ({
    async stock(sku) {
      const units = await stock(sku);
      return units === undefined || sku === undefined || sku === '001' ? units : units + by;
    },
  }));

const withoutProcesses = (target: Target): Target => ({
  ...target,
  nodes: target.nodes.map(({ process, ...node }) => node),
});

/** The write of the first node has reached Redis when it dies, and it knows nothing of that. */
const diesLate = (target: Target) =>
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

/** Nobody tells that a sale has left. */
const silent = (target: Target) => {
  const isTold = ({ type }: SaleEvent) => type !== 'left';
  return withNodes(target, ({ follow, history }) => ({
    follow: (onPush) => follow((push, isFirst) => onPush({ ...push, events: push.events.filter(isTold) }, isFirst)),
    async history() {
      const { events, ...rest } = await history();
      return { ...rest, events: events.filter(isTold) };
    },
  }));
};

/** The second node finds Redis late when it is back. */
const foundLate = (target: Target) => {
  const line = target.nodes[1]?.link;
  return onReturn(target, (goOn) => {
    line?.cut('silent');
    void target.clock.sleep(LATE_MS).then(() => line?.restore());
    goOn();
  });
};

/** What is held is let go as soon as it comes. */
const atOnce = held((command) => ({
  arrived: command.arrived.then(async (arrived) => {
    await command.letGo();
    return arrived;
  }),
}));

const insideFirst = scenarios
  .map(({ name }) => name)
  .filter((name) => !['long-sale', 'redis-outage', 'overtaking', 'long-wait', 'forgotten-release'].includes(name))
  .filter((name) => !hasNothingToBreak('8-auto-renew', name));

/** What prevents a fault, or what the drill needs. */
const ways: Record<string, RunOptions> = {
  'nothing to sell': { stock: 0 },
  'a lock that lets everybody in': { really: '0-none' },
  'a lock of one sku at a time': { really: 'fenced' },
  'the business computes nothing': { wrap: scripted(({ blockMs, ...script }) => script) },
  'nobody asks again': { wrap: scripted(({ nestedCall, ...script }) => script) },
  'nothing fails': { wrap: scripted(({ fails, ...script }) => script) },
  'the second node can’t be asked': { wrap: deaf },
  'the second node does not reach Redis': { wrap: secondCutOff },
  'the processes are not ours': { wrap: withoutProcesses },
  'it dies when it has written': { wrap: diesLate },
  'processes that hear no signal': { wrap: immortal },
  'nobody tells that it has left': { wrap: silent },
  'no link': { wrap: withoutLinks },
  'the link never sees the command': { wrap: never },
  'what is held never reaches Redis': { wrap: lost },
  'what is held is let go at once': { wrap: atOnce },
  'the cut cuts nothing': { wrap: linked(() => ({ cut() {}, restore() {} })) },
  'the nodes are not led to the replica': { wrap: linked(() => ({ moveTo() {} })) },
  'the answers of Redis are not late': { wrap: linked(() => ({ delayReplies() {} })) },
  'the replica copies nothing': { wrap: replicating(() => 'redis://127.0.0.1:1') },
  'the replica hears of all': { wrap: uncut },
  'Redis hears no signal': { wrap: steadyRedis({ signal() {} }) },
  'Redis does not die': { wrap: steadyRedis({ async kill() {}, async start() {} }) },
  'node-2 finds Redis late': { wrap: foundLate },
  'masters hear no signal': { wrap: steadyMasters({ signal() {} }) },
  'masters do not die': { wrap: steadyMasters({ async kill() {}, async start() {} }) },
  'the answers of masters are not late': { wrap: toMasters({ delayReplies() {} }) },
  'no line to a master is cut': { wrap: toMasters({ cut() {} }) },
  'the clock does not jump': { wrap: rightClock },
  'units are missing that no basket explains': { wrap: miscounted(-1) },
};

// Drills, stages, the way, and the reason that is given. In the last ones a drill would end in a verdict, for another reason than the one that it gives.
const table = String.raw`
${insideFirst.join(' ')} | 8-auto-renew | nothing to sell | did not stay inside
long-sale | 8-auto-renew | nothing to sell | Not every sale stayed inside
forgotten-release | 8-auto-renew | nothing to sell | could not acquire its lock twice
forgotten-release | 7-reentrant | nobody asks again | could not acquire its lock twice
failed-sale | 8-auto-renew | nothing fails | ^The sale got the response sold\.$
client-gone starvation overtaking | 8-auto-renew | a lock that lets everybody in | did not wait
blocked-loop | 8-auto-renew | the business computes nothing | ^The event loop of node-1 was not blocked\.$
nested-call | 8-auto-renew | the second node can’t be asked | did not try to acquire the lock
nested-call | 6-lua-release | nobody asks again | ^The sale did not try to acquire its own lock again\.$
crashed-holder paused-process | 8-auto-renew | the processes are not ours | node-1 is not a process of this run
crashed-holder | 4-ttl | it dies when it has written | had already written
crashed-holder | 3-spin 4-ttl | processes that hear no signal | ^node-1 still responds after it was killed\.$
paused-process | 4-ttl | nobody tells that it has left | did not happen after the pause
paused-process | 4-ttl 8-auto-renew | processes that hear no signal | still responds after SIGSTOP
late-release late-write crossed-write partition starvation | 8-auto-renew | no link | without a fault proxy
late-release late-write crossed-write | 8-auto-renew | the link never sees the command | never saw the command
late-release late-write crossed-write | 3-spin | what is held never reaches Redis | never reached Redis
late-release | 5-owner-check | what is held is let go at once | the release was not late\.$
late-write crossed-write | 8-auto-renew | what is held is let go at once | ^The write was not held\.$
partition starvation | 8-auto-renew | the cut cuts nothing | ^node-\d could still reach the servers of its lock\.$
failover | 8-auto-renew | the replica copies nothing | did not get in sync
failover | 8-auto-renew | the nodes are not led to the replica | could not reach Redis
failover forgotten-sale | 8-auto-renew | the replica hears of all | ^The replica received a write from after the cut\.$
redis-outage | 8-auto-renew | Redis hears no signal | Redis replied during its outage
redis-outage | 8-auto-renew | Redis does not die | Redis replied during its outage
redis-outage | 8-auto-renew | node-2 finds Redis late | ^No sale on node-2 tried to acquire the lock before the other node
frozen-master | redlock | masters hear no signal | still responds after SIGSTOP
late-votes | redlock | the answers of masters are not late | replies were not late
amnesia | redlock | masters do not die | has lost nothing
lock-outage | redlock | masters do not die | still responds after SIGKILL
amnesia clock-jump | redlock | no line to a master is cut | ^\d masters had voted for node-1 instead of 3\.$
clock-jump | 8-auto-renew redlock | the clock does not jump | ^The clock did not jump\.$
crossed-skus | multi | units are missing that no basket explains | ^The stock is 96 and 95, but the baskets explain 96\.$
crossed-skus | multi | a lock of one sku at a time | ^node-1 never tried to acquire a second lock\.$
early-read | read-write | the second node can’t be asked | ^node-2 was asked for the stock and responded nothing\.$
early-read | read-write | the link never sees the command | ^node-1 did not read the stock\.$
early-read | read-write | the answers of Redis are not late | ^(The reader .* was not slow|The sale .* did not try to acquire the lock while a reader was inside)\.$
late-write paused-process blocked-loop partition | 8-auto-renew | the second node does not reach Redis | ${nobodyWaited}
late-release crossed-write | 8-auto-renew | the second node does not reach Redis | did not stay inside: it got the response STORE_UNAVAILABLE\.$
failover | 1-in-process | the second node does not reach Redis | ${nobodyWaited}
crashed-holder | 8-auto-renew | the second node can’t be asked | ${nobodyWaited}
`;

const cells = table
  .trim()
  .split('\n')
  .map((line) => line.split(' | '))
  .flatMap(([drills = '', stages = '', ...rest]) =>
    drills.split(' ').flatMap((drill) => stages.split(' ').map((stage) => [drill, stage, ...rest])),
  );

test.each(cells)('%s under %s, unknown: %s', async (drill = '', stage = '', way = '', why = '') => {
  expect(Object.keys(ways)).toContain(way);
  isUnknown(await run(scenario(drill), stage, ways[way]), new RegExp(why));
});

test.each([
  ['crashed-holder', '3-spin', 0],
  ['slow-holder', '4-ttl', 0],
  ['hung-holder', '8-auto-renew', 1],
  ['partition', '8-auto-renew', 2],
  ['failover', '8-auto-renew', 2],
  ['client-gone', '8-auto-renew', 0],
])('%s under %s, unknown: the holder has left before the fault', async (drill, stage, at) => {
  let narrated = 0;
  const outcome = await run(scenario(drill), stage, {
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

test('crossed-write: a sale that reads and writes in one step has read nothing when the late write comes', async () => {
  const outcome = await run(scenario('crossed-write'), '8-auto-renew', { really: 'redis-atomic' });
  isUnknown(outcome, /^Sale \d+ had not read the stock when the late write arrived: .*one step\.$/);
  expect(outcome.nothingToBreak).toBe(true);
});

test('crossed-skus: a stock that has not fallen with the other: only a part of a basket was sold', async () => {
  const { verdict, reasons } = await run(scenario('crossed-skus'), 'multi', { wrap: miscounted(1) });

  const reason = '4 baskets were sold. The stock is 96 and 97, but should be 96.';
  expect({ verdict, reasons }).toEqual({ verdict: 'fail', reasons: [reason] });
});

test('early-read: a node that looks without a lock fails, and says what it answered in the middle of a sale', async () => {
  const { verdict, reasons, figures } = await run(scenario('early-read'), 'read-write', { really: '8-auto-renew' });

  const reason = /^node-2 returned stock 100 while sale \d+ on node-1 was between its read and its write\.$/;
  expect({ verdict, reasons, figures }).toEqual({
    ...{ verdict: 'fail', reasons: [expect.stringMatching(reason)] },
    figures: { earlyAnswers: 1 },
  });
});

test('clock-jump: the jump is drawn where it happened, and who undid the others is named', async () => {
  const outcome = await run(scenario('clock-jump'), 'redlock');

  expect(figuresOf(outcome)).toMatchObject({ soldMeanwhile: 3, lostUpdates: 2, finalStock: 99, expectedStock: 97 });
  expect(outcome.evidence[0]).toMatch(/node-1.* and .*node-2.* both read stock 100/);
  expect(timelineOf(outcome).faults.map(({ label }) => label)).toEqual([
    '2 connections cut',
    'clock of master 3 jumps',
  ]);
});

test('redis-outage: a shop that does not sell again is no reason to know nothing', async () => {
  const slow = (target: Target) =>
    onReturn(target, (goOn) => {
      for (const node of target.nodes) void node.script({ pauseMs: 3_000, times: 100 });
      goOn();
    });

  expect(await run(scenario('redis-outage'), 'fenced', { wrap: slow })).toMatchObject({
    verdict: 'fail',
    reasons: [expect.stringMatching(/nothing was sold within 2 s after it resumed/)],
  });
});

test('overtaking: a drill that a server kept from its end is played again', async () => {
  let asked = 0;
  const hesitant = (target: Target) =>
    withNodes(target, (node) => ({
      async redis() {
        if (asked++ === 0) throw new Error('Redis does not reply.');
        return node.redis();
      },
    }));

  expect(await run(scenario('overtaking'), 'fair', { wrap: hesitant, tries: 2 })).toMatchObject({ verdict: 'pass' });
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
  ['before', ['the buyers disconnect'], forgetful],
  ['while the node is asked', [], leaving],
])('long-wait: buyers who are gone %s do not say that the lock never tries', async (_, gone, wrap) => {
  const page = [
    ...['tries', 'Does waiting cost memory?', 'A sells at node-1 and is held inside'],
    ...['2 buyers arrive at node-2 and wait', ...gone],
    ...['node-2 tries 90 times, for 1 s at most, and its memory is measured'],
    'holds when each try keeps fewer than 60 bytes',
  ];
  const outcome = await run(readScenario(page.join('\n')), 'blocking', { wrap });

  isUnknown(outcome, /^Some of the buyers on node-2 were not waiting any more\.$/);
  expect(outcome.nothingToBreak).toBe(false);
});

test.each([
  ['3-spin', false],
  ['blocking', true],
])('long-wait: few tries of %s on a slow machine have nothing to break: %s', async (stage, nothingToBreak) => {
  const page = [
    ...['tries', 'Does waiting cost memory?', 'a lease lasts 60 s', 'waiters retry at once'],
    ...['A sells at node-1 and is held inside', '2 buyers arrive at node-2 and wait'],
    'the connection of node-2 is slow: each reply from Redis is 400 ms late',
    ...['node-2 tries 90 times, for 1 s at most, and its memory is measured'],
    'holds when each try keeps fewer than 60 bytes',
  ];
  const outcome = await run(readScenario(page.join('\n')), stage, { wrap: forgetful });

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

    expect(await run(scenario('redis-outage'), stage, { wrap })).toMatchObject({
      verdict: 'fail',
      reasons: [expect.stringMatching(/^The stock is /)],
    });
  },
);
