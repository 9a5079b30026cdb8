// The sentences of a scenario, and what each does, on real servers and in the virtual world alike.

import type { SaleScript } from '../../services/inventory/lab/contract.ts';
import type { SaleEnd } from '../evidence/answers.ts';
import { isSame, type SaleName } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { countOf, formatDuration } from '../evidence/numbers.ts';
import { sharedClock, sleep } from '../harness/clock.ts';
import { isRelease, isStockWrite } from '../harness/commands.ts';
import type { LockTiming } from '../harness/lab-client.ts';
import type { Need, TargetNode } from '../harness/target.ts';
import { endWithin, NOT_REPLICATED } from '../harness/test-bed.ts';
import { actorOf, breaks, type Course, insideOf, mend, msOf, nodeOf } from './course.ts';
import type { Filled, Known } from './sentence.ts';

/** What one line of a page does. */
export interface Step {
  /** What it takes, besides two nodes. */
  needs?: Need[];
  /** What it asks of the lock's timing. */
  timing?: LockTiming;
  /** It takes a while, so it is told when it begins. */
  isLong?: boolean;
  /** The units in stock. */
  stock?: number;
  /** It sets something before the drill. */
  isSetting?: boolean;
  /** The page is played once for each command of a release. */
  playsEachRelease?: boolean;
  /** Resolves with what there is to tell besides the line itself, if that is a text. Throws NotStagedError when it has no effect. */
  act(course: Course): Promise<unknown>;
}

/** How long a step may take that no lock delays, in milliseconds. */
const STEP_LIMIT_MS = 5_000;
/** Of a lease, so much may pass until those who wait have asked: what is left must be enough for what comes. */
const LATEST_ASK = 1 / 2;
/** A standstill that may be why masters did not vote in time for a lease to be renewed, in milliseconds: they have 50. */
const VOTE_STANDSTILL_MS = 25;
/** How long another node tries in vain when a sale was refused because no replica had confirmed its lock, in milliseconds. */
const REFUSED_MS = 1_000;
/** What is stopped leaves a question unanswered for so long, in milliseconds. */
const SILENT_MS = 100;
/** A buyer who is refused comes again after so long, in milliseconds. */
const AGAIN_MS = 100;
/** So many units are sold meanwhile at most, and who is refused then comes again after so long, in milliseconds. */
const MEANWHILE = 3;
const SOON_MS = 20;
/** How long a sale takes that others make meanwhile, in milliseconds: long enough to be seen in a picture. */
const SALE_MS = 100;

type Act<Form extends string> = (course: Course, filled: Filled<Form>) => ReturnType<Step['act']>;

export function step<Form extends string>(form: Form, act: Act<Form>, more: Omit<Step, 'act'> = {}): Known<Step> {
  return { form, means: (filled) => ({ ...more, act: (course) => act(course, filled as Filled<Form>) }) };
}

/** A sentence that sets something before the drill, and does nothing in it. */
export function setting<Form extends string>(
  form: Form,
  set: (filled: Filled<Form>) => Omit<Step, 'act'>,
): Known<Step> {
  return { form, means: (filled) => ({ isSetting: true, ...set(filled as Filled<Form>), async act() {} }) };
}

export const steps: Known<Step>[] = [
  // What a page begins with.
  setting('a lease lasts <time>', ({ time }) => ({ timing: { leaseMs: msOf(time, Number.NaN) } })),
  setting('this is played once for each command of a release', () => ({ playsEachRelease: true })),
  /** It is told, and nothing happens. */
  step('> <text>', async () => {}),

  // Sales.
  step('<sale> sells at <node>', async (course, { sale, node }) => sell(course, sale, node)),
  step('<sale> sells at <node>, and asks for the lock', async (course, { sale, node }) => {
    const { testBed } = course;
    const actor = sell(course, sale, node);
    const hasAsked = () => testBed.eventsAt(actor.node).some(({ at }) => at > actor.askedAt) || undefined;
    if (!(await testBed.until(hasAsked, STEP_LIMIT_MS))) throw new NotStagedError(`${node} did not ask for the lock.`);
    await testBed.hasAsked(actor.node);
  }),
  step('<sale> sells at <node> for <time>', async (course, { sale, node, time }) => {
    await nodeOf(course, node).script({ pauseMs: msOf(time, course.testBed.leaseMs) });
    sell(course, sale, node);
  }),
  step('<sale> sells at <node> and is held inside', (course, { sale, node }) =>
    sellInside(course, sale, node, { untilResumed: true }),
  ),
  step('<sale> sells at <node> for <time> and is inside', (course, { sale, node, time }) =>
    sellInside(course, sale, node, { pauseMs: msOf(time, course.testBed.leaseMs) }),
  ),
  step('<sale> sells at <node> and is held inside, to compute for <time> after it', (course, { sale, node, time }) =>
    sellInside(course, sale, node, { untilResumed: true, blockMs: msOf(time, course.testBed.leaseMs) }),
  ),
  step(
    '<sale> sells at <node> for <time>, and is held before it asks again by the same lock object',
    (course, { sale, node, time }) => sellNested(course, sale, node, time, true),
  ),
  step(
    '<sale> sells at <node> for <time>, and is held before it asks again by another lock object',
    (course, { sale, node, time }) => sellNested(course, sale, node, time, 'another object'),
  ),
  step(
    '<sale> sells at <node> and is held inside, or waits for <limit>',
    async (course, { sale, node, limit }) => {
      const { askedAt, inside } = await trySellInside(course, sale, node, msOf(limit, course.testBed.leaseMs));
      if (inside !== undefined) return itsName(course, inside);
      await course.testBed.mustHaveWaited(nodeOf(course, node), askedAt);
      course.keptOutMs = sharedClock() - askedAt;
      return `it has waited for ${formatDuration(course.keptOutMs)}, and gives up`;
    },
    { isLong: true },
  ),
  step('<sale> sells at <node> and is held inside, or is refused', async (course, { sale, node }) => {
    const { inside } = await trySellInside(course, sale, node, STEP_LIMIT_MS);
    if (inside !== undefined) return itsName(course, inside);
    await course.testBed.mustBeUnconfirmed(nodeOf(course, node));
    course.isRefused = true;
    return 'it is refused, since no replica has confirmed its lock';
  }),
  step(
    '<sale> sells at <node>, and gives up after <limit>',
    async (course, { sale, node, limit }) => {
      const { askedAt, sale: running } = sell(course, sale, node);
      const end = await endWithin(running, msOf(limit, course.testBed.leaseMs));
      if (end.outcome === 'sold') {
        await mustHaveHadVotes(course);
        return `it has sold: ${end.sale.stockBefore} before it, ${end.sale.remaining} after it`;
      }
      await course.testBed.mustHaveWaited(nodeOf(course, node), askedAt);
      return `it has waited for ${formatDuration(end.ms)}`;
    },
    { isLong: true },
  ),
  step('<sale> and <other> have asked for the lock', (course, { sale, other }) => haveAsked(course, [sale, other])),
  ...(['stalls inside the sale', 'hangs, and its process lives'] as const).map((what) =>
    step(`<sale> ${what}`, async (course, { sale }) => {
      breaks(course, `${sale} stalls`, what.split(/[ ,]/)[0] ?? what, { sale: insideOf(course, sale) });
    }),
  ),
  step('<sale> is still inside', (course, { sale }) => course.testBed.mustBeInside(insideOf(course, sale))),
  step('<sale> goes on', (course, { sale }) => goOn(course, sale)),
  step('<sale> ends', (course, { sale }) => actorOf(course, sale).sale.end),
  step('<sale> ends, or gives up after <limit>', (course, { sale, limit }) =>
    endWithin(actorOf(course, sale).sale, msOf(limit, course.testBed.leaseMs)),
  ),
  step('<sale> ends, sold', (course, { sale }) => answered(course, sale, ['sold'])),
  step('<sale> ends, sold or not replicated', (course, { sale }) => answered(course, sale, ['sold', NOT_REPLICATED])),
  step('all sales end', ({ testBed }) => testBed.outcome()),

  // Others who sell meanwhile.
  step(
    '<node> sells what it can, for <limit>',
    async (course, { node, limit }) => {
      const limitMs = msOf(limit, course.testBed.leaseMs);
      const startedAt = await sellMeanwhile(course, node, limitMs);
      // Any lease that still runs ends meanwhile.
      await sleep(Math.max(0, startedAt + limitMs - sharedClock()));
      await mustHaveBeenKeptOut(course, node, startedAt);
      return soldSoFar(course);
    },
    { isLong: true },
  ),
  step(
    '<node> sells what it can, for <limit>, while <sale> is inside',
    async (course, { node, limit, sale }) => {
      const { inside } = actorOf(course, sale);
      // Nobody waits for one who was refused.
      const limitMs = inside === undefined ? REFUSED_MS : msOf(limit, course.testBed.leaseMs);
      const startedAt = await sellMeanwhile(course, node, limitMs);
      if (inside === undefined) return soldSoFar(course);
      await course.testBed.mustBeInside(inside);
      await mustHaveBeenKeptOut(course, node, startedAt);
      course.evidence.push(async () => {
        const { outcome } = await actorOf(course, sale).sale.end;
        if (course.soldMeanwhile !== 0 || outcome === 'sold') return;
        throw new NotStagedError('After the fault nobody could sell at all.');
      });
      return soldSoFar(course);
    },
    { isLong: true },
  ),
  step('the next sales at <node> take <time> each', async (course, { node, time }) => {
    await nodeOf(course, node).script({ pauseMs: msOf(time, course.testBed.leaseMs), times: 1_000 });
  }),
  step('<count> buyers come again and again, each for <time>', async (course, { count, time }) => {
    const pauseMs = msOf(time, course.testBed.leaseMs);
    const { first, second } = course.testBed;
    for (const node of [first, second]) await node.script({ pauseMs, times: 1_000 });
    course.buyers = comeAgain(course, Number(count));
  }),
  step('the buyers stop', async ({ buyers }) => buyers?.stop()),
  step('<time> pass', (course, { time }) => sleep(msOf(time, course.testBed.leaseMs)), { isLong: true }),
  step('<time> passes', (course, { time }) => sleep(msOf(time, course.testBed.leaseMs)), { isLong: true }),

  // Processes.
  step(
    '<node> is killed (SIGKILL)',
    async (course, { node: name }) => {
      const { testBed } = course;
      const node = nodeOf(course, name);
      const held = heldAt(course, node);
      course.faultAt = await testBed.kill(node);
      for (const actor of held) actor.isHeld = false;
      testBed.mark('SIGKILL', { node, at: course.faultAt });
      for (const { inside } of held) if (inside) await testBed.mustBeInside(inside);
      const other = node === testBed.first ? testBed.second : testBed.first;
      if ((await other.stock()) === testBed.initialStock) return;
      throw new NotStagedError('The holder had written already when it died.');
    },
    { needs: ['node processes'] },
  ),
  step(
    '<node> is stopped (SIGSTOP)',
    async (course, { node: name }) => {
      const node = nodeOf(course, name);
      const { comeBack } = course.testBed.pause(node);
      breaks(course, `${name} is stopped`, 'SIGSTOP', { node, standsStill: true }, () => {
        mustLeaveAfter(course, node, sharedClock(), 'The write did not fall into the pause.');
        comeBack();
      });
      course.faultAt = sharedClock();
      if (!(await node.isSilentFor(SILENT_MS))) throw new NotStagedError(`${name} still answers after SIGSTOP.`);
    },
    { needs: ['node processes'] },
  ),
  step('<node> goes on (SIGCONT)', async (course, { node }) => mend(course, `${node} is stopped`)),
  step('<sale> goes on, and its node answers nothing', async (course, { sale }) => {
    const { testBed } = course;
    const { node } = actorOf(course, sale);
    const mark = testBed.mark('event loop blocked', { node, standsStill: true });
    const { at } = await goOn(course, sale);
    course.faultAt = at;
    if (!(await node.isSilentFor(testBed.leaseMs / 4))) {
      throw new NotStagedError(`The event loop of ${node.name} was not blocked.`);
    }
    const blockMs = 2.5 * testBed.leaseMs;
    void actorOf(course, sale).sale.end.then(mark.over);
    const reason = `The event loop of ${node.name} was not blocked for ${formatDuration(blockMs)}.`;
    mustLeaveAfter(course, node, at + blockMs - 1, reason);
  }),

  // Lines.
  step('<sale> goes on, and its write is held up on the line to Redis', (course, { sale }) => holdWrite(course, sale), {
    needs: ['links'],
  }),
  step(
    '<sale> goes on, and the next write of <node> is held up on the line to Redis',
    (course, { sale, node }) => holdWrite(course, sale, node),
    { needs: ['links'] },
  ),
  step(
    '<sale> goes on, and its release is held up on the line to Redis',
    (course, { sale }) => holdRelease(course, sale),
    {
      needs: ['links'],
    },
  ),
  step('the write of <sale> arrives', async (course, { sale }) => {
    const { testBed, soldMeanwhile } = course;
    const late = insideOf(course, sale);
    const stockBefore = await testBed.second.stock();
    await arrive(course);
    testBed.mark('write arrives', { sale: late });
    for (const other of course.actors.values()) if (other.isHeld) mustHaveRead(course, other);
    mustBeUnread(course, late);
    // It would write what is there already.
    if (soldMeanwhile === 1) throw new NotStagedError('Only one unit was sold meanwhile.');
    if ((await testBed.second.stock()) === stockBefore) return 'it is refused';
    course.wroteLate.push(late);
    return 'it changes the stock';
  }),
  step('the lease of <sale> ends', async (course, { sale }) => {
    const { testBed, release } = course;
    const found = await testBed.endLease();
    testBed.mark('lease ends', { sale: insideOf(course, sale) });
    // An earlier command of the release may have freed the lock. A single one can't have.
    if (found === 'free' && release?.isOneOfSeveral === false) {
      throw new NotStagedError('The lock was free before the lease was over, so the release was not late.');
    }
    return found === 'endless' ? 'it has no end' : undefined;
  }),
  step('the release of <sale> arrives', arrive),
  step('the write of <node> arrives', arrive),
  step('<node> has its line again', async (course, { node }) => {
    mend(course, `the line of ${node} is slow`);
    course.testBed.restore(nodeOf(course, node));
  }),
  step(
    'the line of <node> is slow: each answer of Redis comes <time> late',
    async (course, { node: name, time }) => {
      const { testBed } = course;
      const node = nodeOf(course, name);
      const ms = msOf(time, testBed.leaseMs);
      breaks(course, `the line of ${name} is slow`, 'line slow', { node }, testBed.delayAnswers(node, ms).over);
      course.slowMs = ms;
    },
    { needs: ['links'] },
  ),
  step(
    '<node> is cut off from the servers of its lock',
    async (course, { node: name }) => {
      const { testBed } = course;
      const node = nodeOf(course, name);
      // What it had to ask before is answered.
      await testBed.hasAsked(node);
      breaks(course, `${name} is cut off`, 'cut off from its lock', { node }, testBed.cutOff(node).restore);
    },
    { needs: ['links'] },
  ),
  step('<node> reaches the servers of its lock again', async (course, { node: name }) => {
    mend(course, `${name} is cut off`);
    const node = nodeOf(course, name);
    // The stock may be there, too: the write must not fail because the line has just come back.
    const isBack = await course.testBed.waitFor(() => node.redis().catch(() => undefined), STEP_LIMIT_MS);
    if (!isBack) throw new NotStagedError(`${name} did not reach Redis again.`);
  }),

  // Replicas.
  ...(['a replica copies', 'two replicas copy'] as const).map((copy, more) =>
    step(
      `${copy} all that Redis holds`,
      async (course) => {
        for (let at = 0; at <= more; at += 1) course.replicas.push(await course.testBed.startReplica());
      },
      { needs: ['links', 'redis process', 'replication'] },
    ),
  ),
  step('the line to the replica is cut', (course) => cutReplica(course, 0)),
  step('the line to the second replica is cut', (course) => cutReplica(course, 1)),
  step('the first replica hears of it', async ({ replicas }) => replicas[0]?.hearsAll()),
  step('Redis is killed, and the replica takes its place', (course) => failOver(course, 0)),
  step('Redis is killed, and the second replica takes its place', (course) => failOver(course, 1)),

  // Masters that vote.
  step('<node> reaches a bare majority of the masters', (course, { node }) => cutMasters(course, node), {
    needs: ['masters', 'links', 'master processes'],
  }),
  step(
    '<node> reaches a bare majority of the masters, if there are any',
    (course, { node }) => cutMasters(course, node),
    {
      needs: ['links'],
    },
  ),
  step('<node> reaches all masters again', async (course, { node }) => mend(course, `${node} lacks masters`)),
  step('<sale> has the votes of a bare majority', (course, { sale }) => mustHaveQuorum(course, sale)),
  step('<sale> has the votes of a bare majority, if there are masters', async (course, { sale }) =>
    course.testBed.masterCount > 0 ? mustHaveQuorum(course, sale) : undefined,
  ),
  step('a master of that majority restarts empty', async ({ testBed }) => {
    const quorum = quorumOf(testBed.masterCount);
    const isReachedBy = await testBed.forgetMaster(quorum - 1);
    testBed.mark(`master ${quorum} restarts empty`);
    // Some locks keep the votes of a try that failed: they would be in their own way.
    const isReached = async () => (await isReachedBy(testBed.second)) || undefined;
    if (await testBed.waitFor(isReached, STEP_LIMIT_MS)) return;
    throw new NotStagedError(`${testBed.second.name} did not reach master ${quorum} after its restart.`);
  }),

  // Clocks.
  step(
    'the clock of <node> runs <count> % slow',
    async (course, { node: name, count }) => {
      const { testBed } = course;
      const node = nodeOf(course, name);
      const slow = 1 - Number(count) / 100;
      const own = testBed.runClock(node, slow);
      const [from, ownFrom] = [sharedClock(), own()];
      // In the middle between a clock that is right and one that is as slow as this.
      course.evidence.push(() => {
        if (own() - ownFrom < ((1 + slow) / 2) * (sharedClock() - from)) return;
        throw new NotStagedError(`The clock of ${name} was not slow.`);
      });
      testBed.mark(`clock ${count} % slow`, { node });
    },
    { needs: ['node clocks'] },
  ),
  step(
    'the clock of a server of the lock can be set',
    async (course) => {
      course.clock = await course.testBed.lendClock();
    },
    { needs: ['links', 'clock server'] },
  ),
  step('the clock of that server jumps ahead by a lease and <time>', async ({ testBed, clock }, { time }) => {
    await clock?.jump(testBed.leaseMs + msOf(time, testBed.leaseMs));
    const { masterCount } = testBed;
    testBed.mark(`clock of ${masterCount > 0 ? `master ${quorumOf(masterCount)}` : 'Redis'} jumps`);
  }),
];

export function sell(course: Course, name: string, at: string) {
  const node = nodeOf(course, at);
  const actor = { name, node, askedAt: sharedClock(), sale: course.testBed.sell(node) };
  course.actors.set(name, actor);
  return actor;
}

/** Sells as the script says. Throws NotStagedError when the sale is not inside soon. */
async function sellInside(course: Course, name: string, at: string, script: SaleScript) {
  const node = nodeOf(course, at);
  const askedAt = sharedClock();
  const inside = await course.testBed.sellInside(node, script);
  const isHeld = script.untilResumed ?? script.beforeNestedCall ?? false;
  course.actors.set(name, { name, node, askedAt, sale: inside, inside, isHeld });
  course.faultAt = sharedClock();
  return itsName(course, inside);
}

async function trySellInside(course: Course, name: string, at: string, limitMs: number) {
  const node = nodeOf(course, at);
  const askedAt = sharedClock();
  const inside = await course.testBed.trySellInside(node, { untilResumed: true }, limitMs);
  const gone = { node: at, end: Promise.resolve({ outcome: 'cutOff' as const, sentAt: askedAt, ms: 0 }), hangUp() {} };
  const actor = { name, node, askedAt, sale: inside ?? gone, inside, isHeld: inside !== undefined };
  course.actors.set(name, actor);
  return actor;
}

async function sellNested(
  course: Course,
  name: string,
  at: string,
  time: string,
  nestedCall: SaleScript['nestedCall'],
) {
  const { leaseMs } = course.testBed;
  const pauseMs = msOf(time, leaseMs);
  const told = await sellInside(course, name, at, { beforeNestedCall: true, nestedCall, pauseMs });
  const inside = insideOf(course, name);
  course.testBed.mark('asks again', { sale: inside });
  course.evidence.push(({ events }) => {
    const own = events.filter((event) => isSame(event, inside));
    const [entered, again] = ['entered', 'nested'].map((type) => own.find((event) => event.type === type)?.at);
    if (again === undefined) throw new NotStagedError('The sale did not ask for its own lock again.');
    if (entered === undefined || again - entered <= leaseMs * LATEST_ASK) return;
    throw new NotStagedError('The sale asked again when its lease was about to end.');
  });
  return told;
}

const itsName = ({ testBed }: Course, { saleId, node }: SaleName) => `sale ${saleId} on ${node} ${testBed.soFar}`;

/** Lets a sale go on that is held inside. Throws NotStagedError when it has left already. One that was kept out has nothing to go on with. */
async function goOn(course: Course, name: string, resume = actorOf(course, name).node.resume) {
  const actor = actorOf(course, name);
  const at = sharedClock();
  if (actor.held) {
    await mustStillWait(course);
    actor.wentOnAt = sharedClock();
    await actor.held.goOn();
  }
  if (actor.inside === undefined) return { at };
  await course.testBed.mustBeInside(actor.inside);
  await mustStillWait(course);
  actor.wentOnAt = sharedClock();
  actor.isHeld = false;
  mend(course, `${name} stalls`);
  await resume();
  return { at: actor.wentOnAt };
}

/** Throws NotStagedError when one has entered that is to wait. */
export async function mustStillWait({ testBed, actors }: Course) {
  const asked = [...actors.values()].flatMap(({ asks }) => asks ?? []);
  if (asked.length > 0) await testBed.catchUp();
  const through = asked.find((sale) =>
    testBed.events().some((event) => event.type === 'entered' && isSame(event, sale)),
  );
  if (through) throw new NotStagedError(`Sale ${through.saleId} on ${through.node} did not wait for the lock.`);
}

/** Masters that had no time to vote for one who is inside may have given its lock away. Throws NotStagedError. */
async function mustHaveHadVotes({ testBed, actors }: Course) {
  const isHeld = [...actors.values()].some((actor) => actor.isHeld);
  if (isHeld && testBed.masterCount > 0) await testBed.mustHaveGoneOn(VOTE_STANDSTILL_MS);
}

/** Waits until these have asked for the lock, or are through already. Throws NotStagedError when they don't in time, or not while it was held. */
async function haveAsked(course: Course, names: string[]) {
  const { testBed } = course;
  const actors = names.map((name) => actorOf(course, name));
  const hasCome = ({ node, askedAt }: (typeof actors)[number]) =>
    testBed.eventsAt(node).some(({ type, at }) => type === 'waiting' && at >= askedAt);
  if (!(await testBed.until(() => actors.every(hasCome) || undefined, testBed.leaseMs * LATEST_ASK))) {
    throw new NotStagedError('The others did not ask for the lock in time.');
  }
  const held = [...course.actors.values()].filter(({ isHeld }) => isHeld).flatMap(({ inside }) => inside ?? []);
  course.evidence.push(({ events }) => {
    for (const holder of held) {
      const left = events.find((event) => event.type === 'left' && isSame(event, holder))?.at ?? 0;
      for (const { node, askedAt } of actors) {
        const asks = (event: (typeof events)[number]) =>
          event.type === 'waiting' && event.node === node.name && event.at >= askedAt && event.at < left;
        if (events.some((event) => asks(event) && !isSame(event, holder))) continue;
        throw new NotStagedError(`${node.name} did not ask for the lock while it was held.`);
      }
    }
  });
}

/** Waits for the answer of a sale, and tells it. Throws NotStagedError when it is none of these. */
async function answered(course: Course, name: string, expected: string[]) {
  const end = await actorOf(course, name).sale.end;
  const answer = end.outcome === 'sold' ? 'sold' : 'code' in end ? end.code : end.outcome;
  course.isRefused = answer === NOT_REPLICATED;
  // On a busy machine a replica is too slow to confirm, and a lease ends too soon.
  if (!expected.includes(answer)) throw new NotStagedError(`The sale was answered ${answer}.`);
  return `it is answered: ${answer}`;
}

/**
 * Sells a few units on a node, one after the other, for `limitMs` at most in all. Resolves with when it began.
 */
async function sellMeanwhile(course: Course, name: string, limitMs: number) {
  const { testBed } = course;
  const node = nodeOf(course, name);
  await node.script({ pauseMs: SALE_MS, times: MEANWHILE });
  const startedAt = sharedClock();
  let sold = 0;
  for (let leftMs = limitMs; sold < MEANWHILE && leftMs > 0; leftMs = startedAt + limitMs - sharedClock()) {
    if ((await testBed.sellWithin(node, leftMs)).outcome === 'sold') sold += 1;
    else await sleep(SOON_MS);
  }
  course.soldMeanwhile = sold;
  return startedAt;
}

/** Nothing was sold meanwhile because whoever wanted to had to wait. Throws NotStagedError when nobody waited. */
async function mustHaveBeenKeptOut(course: Course, name: string, startedAt: number) {
  if (course.soldMeanwhile !== 0) return;
  await course.testBed.mustHaveWaited(nodeOf(course, name), startedAt);
  course.keptOutMs = sharedClock() - startedAt;
}

const soldSoFar = ({ soldMeanwhile = 0 }: Course) => `it has sold ${countOf(soldMeanwhile, 'unit')} meanwhile`;

/** Buyers who come over both nodes in turn, each again when it has its answer, until they are stopped. */
function comeAgain({ testBed }: Course, count: number) {
  let areComing = true;
  const ends: SaleEnd[] = [];
  const all = Promise.all(
    Array.from({ length: count }, async (_, buyer) => {
      while (areComing) {
        const end = await testBed.sell(buyer % 2 ? testBed.first : testBed.second).end;
        ends.push(end);
        testBed.ring();
        if (end.outcome !== 'sold') await sleep(AGAIN_MS);
      }
    }),
  );
  // A drill that is stopped waits for nobody.
  all.catch(() => {});
  return {
    ends,
    stop() {
      areComing = false;
      return all;
    },
  };
}

const heldAt = ({ actors }: Course, node: TargetNode) =>
  [...actors.values()].filter((actor) => actor.node === node && actor.isHeld);

/** Those of this node who are inside must not leave before this moment on the shared clock. Not every lock lets them write. */
function mustLeaveAfter(course: Course, node: TargetNode, at: number, otherwise: string) {
  const inside = [...course.actors.values()]
    .filter((actor) => actor.node === node)
    .flatMap(({ inside }) => inside ?? []);
  course.evidence.push(({ events }) => {
    for (const sale of inside) {
      const left = events.find((event) => event.type === 'left' && isSame(event, sale));
      if (left === undefined || left.at < at) throw new NotStagedError(otherwise);
    }
  });
}

/** Holds the write of a sale that goes on, or the next one of another node. */
async function holdWrite(course: Course, name: string, other?: string) {
  const { testBed } = course;
  const node = other === undefined ? actorOf(course, name).node : nodeOf(course, other);
  const write = await testBed.holdOnItsWay(node, isStockWrite, async () => void (await goOn(course, name)));
  const { over } = testBed.mark('write held', other === undefined ? { sale: insideOf(course, name) } : { node });
  course.held = { ...write, over };
  course.faultAt = sharedClock();
}

async function holdRelease(course: Course, name: string) {
  const { testBed, release = { isMeant: isRelease, isOneOfSeveral: false } } = course;
  const { node } = actorOf(course, name);
  const late = insideOf(course, name);
  const command = await testBed.holdOnItsWay(node, release.isMeant, async () => void (await goOn(course, name)));
  const { over } = testBed.mark('release held', { sale: late });
  course.held = { ...command, over };
  course.faultAt = sharedClock();
}

async function arrive({ held }: Course) {
  held?.over();
  await held?.arrive();
}

/** A write that is held has not been read by anybody else. */
function mustBeUnread(course: Course, late: SaleName) {
  course.evidence.push(({ events, initialStock }) => {
    const read = events.find(({ type, node }) => type === 'read' && node !== late.node);
    if (read === undefined || read.stock === initialStock) return;
    throw new NotStagedError('The write was not held up.');
  });
}

/** Another who is inside when a late write comes has read the stock, and has not yet written. */
function mustHaveRead(course: Course, { inside, node }: { inside?: SaleName | undefined; node: TargetNode }) {
  const at = sharedClock();
  if (inside === undefined) return;
  const { saleId } = inside;
  course.evidence.push(({ events, ends }) => {
    const own = events.filter((event) => isSame(event, inside));
    const read = own.find(({ type }) => type === 'read');
    if (read === undefined || read.at > at) {
      const reason = `Sale ${saleId} had not read the stock when the late write came: its reading and its writing are one step.`;
      throw new NotStagedError(reason, { nothingToBreak: true });
    }
    if (own.some((event) => ['wrote', 'left'].includes(event.type) && event.at < at)) {
      throw new NotStagedError(`Sale ${saleId} on ${node.name} was not inside any more when the late write came.`);
    }
    const isRefused = own.some(({ type }) => type === 'failed');
    if (own.some(({ type }) => type === 'wrote') || isRefused || ends.length === 0) return;
    throw new NotStagedError(`Sale ${saleId} was neither written nor refused.`);
  });
}

async function cutReplica({ testBed, replicas }: Course, which: number) {
  await replicas[which]?.cutLine();
  testBed.mark(replicas.length > 1 ? 'one replica cut off' : 'replication cut');
}

async function failOver({ testBed, replicas }: Course, which: number) {
  await testBed.killRedis();
  testBed.mark('Redis killed');
  await replicas[which]?.promote();
  testBed.mark('replica promoted');
}

export const quorumOf = (masters: number) => Math.floor(masters / 2) + 1;

/** Leaves a node a bare majority of the masters. Where none vote there is nothing to cut. */
async function cutMasters(course: Course, name: string) {
  const { testBed } = course;
  const { masterCount } = testBed;
  if (masterCount === 0) return;
  const node = nodeOf(course, name);
  const quorum = quorumOf(masterCount);
  const others = Array.from({ length: masterCount - quorum }, (_, index) => quorum + index);
  breaks(
    course,
    `${name} lacks masters`,
    `${others.length} lines cut`,
    { node },
    testBed.cutMasters(node, others).restore,
  );
}

async function mustHaveQuorum({ testBed, ...course }: Course, name: string) {
  const { node } = actorOf({ testBed, ...course }, name);
  const quorum = quorumOf(testBed.masterCount);
  const votes = await testBed.votesFor(node);
  if (votes !== quorum) throw new NotStagedError(`${votes} masters had voted for ${node.name} instead of ${quorum}.`);
}
