// The sentences of a scenario, and what each does, on real servers and in the virtual world alike.

import { hasLock } from '../../locks/index.ts';
import type { SaleEvent, SaleScript } from '../../services/inventory/sale/contract.ts';
import type { SaleEnd } from '../evidence/answers.ts';
import { isSame, type SaleName } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { isRelease, isStockWrite } from '../harness/faults.ts';
import type { TargetNode } from '../harness/target.ts';
import { NOT_REPLICATED, STEP_LIMIT_MS } from '../harness/test-bed.ts';
import { deed } from '../narration/faults.ts';
import { formatDuration } from '../narration/numbers.ts';
import { type StepSentence, told } from '../narration/steps.ts';
import { backendOfRow } from '../staircase/lookup.ts';
import {
  type Actor,
  actorOf,
  breaks,
  type Course,
  insideOf,
  mend,
  mustBeInside,
  mustBeSo,
  needing,
  setting,
  step,
} from './course.ts';
import type { Values } from './sentence.ts';

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

const withProcesses = needing('node processes');
const withLinks = needing('links');
const withReplication = needing('links', 'redis process', 'replication');
/** Masters that can be broken, and a node kept from them. */
export const withMasters = needing('masters', 'links', 'master processes');

export const steps = [
  // What a page begins with.
  setting('a lease lasts <time>', ({ time }) => ({ timing: { leaseMs: time } })),
  setting('this is played once for each command of a release', () => ({ playsEachRelease: true })),

  // Sales.
  step('<sale> sells at <node>', async (course, { sale, node }) => {
    sell(course, sale, node);
    return told('came', { sale, node: node.name });
  }),
  step('<sale> sells at <node>, and asks for the lock', async (course, { sale, node }) => {
    await sellAndAsk(course, sale, node);
    return told('asked for the lock', { sale, node: node.name });
  }),
  step('<sale> sells at <node> for <time>', async (course, { sale, node, time }) => {
    await node.script({ pauseMs: time });
    sell(course, sale, node);
    return told('came for', { sale, node: node.name, ms: time });
  }),
  step('<sale> sells at <node> and is held inside', (course, { sale, node }) =>
    sellInside(course, sale, node, { untilResumed: true }),
  ),
  step('<sale> sells at <node> for <time> and is inside', (course, { sale, node, time }) =>
    sellInside(course, sale, node, { pauseMs: time }),
  ),
  step('<sale> sells at <node> and is held inside, to compute for <time> after it', (course, { sale, node, time }) =>
    sellInside(course, sale, node, { untilResumed: true, blockMs: time }),
  ),
  step('<sale> sells at <node> for <time>, and is held before it asks again by <which> lock object', sellNested),
  step(
    '<sale> sells at <node> and is held inside, or waits for <limit>',
    async (course, { sale, node, limit: limitMs }) => {
      await course.say(told('came', { sale, node: node.name }));
      const triesSince = countTries(course, node);
      const { askedAt, inside } = await trySellInside(course, sale, node, { untilResumed: true }, limitMs);
      const tries = triesSince();
      if (inside !== undefined) return howInside(course, sale, inside);
      await course.mustHaveWaited(node, askedAt);
      return gaveUp(sale, tries, allWait(course, askedAt));
    },
  ),
  step('<sale> sells at <node> and is held inside, or is refused', async (course, { sale, node }) => {
    const { inside, isRefused } = await trySellInside(course, sale, node, { untilResumed: true });
    if (inside !== undefined) return howInside(course, sale, inside);
    if (!isRefused) throw notInside(node);
    course.ending = 'if A is refused';
    return told('lock not confirmed', { sale });
  }),
  step('<sale> sells at <node>, and gives up after <limit>', async (course, { sale, node, limit }) => {
    await course.say(told('came', { sale, node: node.name }));
    const triesSince = countTries(course, node);
    const { askedAt, sale: running } = sell(course, sale, node);
    const end = await running.endWithin(limit);
    const tries = triesSince();
    if (end.outcome === 'sold') {
      await mustHaveHadVotes(course);
      return howEnded(sale, end);
    }
    await course.mustHaveWaited(node, askedAt);
    return gaveUp(sale, tries, end.ms);
  }),
  step('<sale> <stays>', async (course, { sale, stays }) => {
    const doesStall = stays === 'stalls inside the sale';
    breaks(course, `${sale} stalls`, deed(doesStall ? 'stalls' : 'hangs'), { sale: insideOf(course, sale) });
    return told(doesStall ? 'stalled' : 'hung', { sale });
  }),
  step('<sale> is still inside', async (course, { sale }) => {
    mustBeInside(course, insideOf(course, sale));
    return told('was still inside', { sale });
  }),
  step('<sale> goes on', async (course, { sale }) => {
    const { hasResumed } = await goOn(course, sale);
    return hasResumed ? told('resumed', { sale }) : told('had nothing to resume', { sale });
  }),
  step('<sale> ends', async (course, { sale }) => {
    const { ended, end } = actorOf(course, sale).sale;
    return ended?.outcome === 'cutOff' ? told('had given up', { sale }) : howEnded(sale, await end);
  }),
  step('<sale> ends, or gives up after <limit>', async (course, { sale, limit }) => {
    const end = await actorOf(course, sale).sale.endWithin(limit);
    return end.outcome === 'cutOff' ? told('waited in vain', { sale, ms: end.ms }) : howEnded(sale, end);
  }),
  step('<sale> ends, sold', (course, { sale }) => answered(course, sale, ['sold'])),
  step('<sale> ends, sold or not replicated', (course, { sale }) => answered(course, sale, ['sold', NOT_REPLICATED])),
  step('all sales end', async (course) => told('all ended', { left: (await course.outcome()).finalStock })),

  // Others who sell meanwhile.
  step('<node> sells what it can, for <limit>[, while <sale> is inside]', sellMeanwhile),
  step('the next sales at <node> take <time> each', async (_course, { node, time }) => {
    await node.script({ pauseMs: time, times: 1_000 });
    return told('sales slowed', { node: node.name, ms: time });
  }),
  step('<count> buyers come again and again, each for <time>', async (course, { count, time: pauseMs }) => {
    const { first, second } = course;
    for (const node of [first, second]) await node.script({ pauseMs, times: 1_000 });
    course.broken.set('buyers come', comeAgain(course, count));
    return told('buyers began', { buyers: count, ms: pauseMs });
  }),
  step('the buyers stop', async (course) => {
    await mend(course, 'buyers come');
    return told('buyers stopped');
  }),
  step('<time> pass[es]', async ({ clock }, { time }) => {
    await clock.sleep(time);
    return told('time passed', { ms: time });
  }),

  // Processes.
  withProcesses('<node> is killed (SIGKILL)', async (course, { node }) => {
    const held = [...course.actors.values()].filter((actor) => actor.node === node && actor.isHeld);
    course.faultAt = await course.kill(node);
    course.mark(deed('killed'), { node, at: course.faultAt });
    for (const actor of held) {
      actor.isHeld = false;
      if (actor.inside) mustBeInside(course, actor.inside, course.faultAt);
    }
    // What it recorded last may have died with it: the stock tells.
    const other = node === course.first ? course.second : course.first;
    const stock = await other.stock();
    mustBeSo(course, ({ initialStock }) => stock === initialStock || 'The holder had written already when it died.');
    return told('killed', { node: node.name });
  }),
  withProcesses('<node> is stopped (SIGSTOP)', async (course, { node }) => {
    const { comeBack } = course.pause(node);
    breaks(course, `${node.name} is stopped`, deed('stopped'), { node, standsStill: true }, () => {
      mustLeaveAfter(course, node, course.clock.now(), 'The write did not fall into the pause.');
      comeBack();
    });
    if (!(await node.isSilentFor(SILENT_MS))) throw new NotStagedError(`${node.name} still answers after SIGSTOP.`);
    return told('paused', { node: node.name });
  }),
  step('<node> goes on (SIGCONT)', async (course, { node }) => {
    await mend(course, `${node.name} is stopped`);
    return told('process resumed', { node: node.name });
  }),
  step('<sale> goes on, and its node answers nothing', async (course, { sale }) => {
    const { node } = actorOf(course, sale);
    const mark = course.mark(deed('blocked'), { node, standsStill: true });
    const { at } = await goOn(course, sale);
    if (!(await node.isSilentFor(course.leaseMs / 4))) {
      throw new NotStagedError(`The event loop of ${node.name} was not blocked.`);
    }
    const blockMs = 2.5 * course.leaseMs;
    void actorOf(course, sale).sale.end.then(mark.over);
    const reason = `The event loop of ${node.name} was not blocked for ${formatDuration(blockMs)}.`;
    mustLeaveAfter(course, node, at + blockMs - 1, reason);
    return told('blocked the event loop', { sale, node: node.name });
  }),

  // Lines.
  withLinks('<sale> goes on, and its <command> is held up on the line to Redis', async (course, { sale, command }) => {
    await holdUp(course, sale, command);
    return told(command === 'write' ? 'write held' : 'release held', { sale });
  }),
  withLinks(
    '<sale> goes on, and the next write of <node> is held up on the line to Redis',
    async (course, { sale, node }) => {
      await holdUp(course, sale, 'write', node);
      return told('write of the node held', { sale, node: node.name });
    },
  ),
  withLinks('the line of <node> is slow: each answer of Redis comes <time> late', async (course, { node, time }) => {
    course.slowMs = time;
    const { over } = course.delayAnswers(node, course.slowMs);
    breaks(course, `the line of ${node.name} is slow`, deed('line slow'), { node }, over);
    return told('answers delayed', { node: node.name, ms: time });
  }),
  withLinks('<node> is cut off from the servers of its lock', async (course, { node }) => {
    // What it had to ask before is answered.
    await course.hasAsked(node);
    const { restore } = course.cutOff(node);
    breaks(course, `${node.name} is cut off`, deed('cut off from its lock'), { node }, restore);
    return told('cut off', { node: node.name });
  }),
  step('the write of <sale> arrives', async (course, { sale }) => {
    const late = insideOf(course, sale);
    const stockBefore = await course.second.stock();
    await mend(course, 'command held');
    course.mark(deed('late write arrives'), { sale: late });
    for (const { isHeld, inside } of course.actors.values()) if (isHeld && inside) mustHaveRead(course, inside);
    mustBeSo(course, ({ events, initialStock }) => {
      const read = events.find(({ type, node }) => type === 'read' && node !== late.node);
      return read === undefined || read.stock === initialStock || 'The write was not held up.';
    });
    // It would write what is there already.
    if (course.figures['soldMeanwhile'] === 1) throw new NotStagedError('Only one unit was sold meanwhile.');
    const stockAfter = await course.second.stock();
    if (stockBefore === undefined || stockAfter === undefined)
      throw new NotStagedError('There is no stock to be read.');
    if (stockAfter === stockBefore) return told('late write refused', { sale, stock: stockBefore });
    course.wroteLate.push(late);
    return told('late write', { sale, before: stockBefore, after: stockAfter });
  }),
  step('the lease of <sale> ends', async (course, { sale }) => {
    const { release } = course;
    const found = await course.endLease();
    course.mark(deed('lease ends'), { sale: insideOf(course, sale) });
    // An earlier command of the release may have freed the lock. A single one can't have.
    if (found === 'free' && release?.isOneOfSeveral === false) {
      throw new NotStagedError('The lock was free before the lease was over, so the release was not late.');
    }
    return told(howLeasesEnd[found], { sale });
  }),
  step('the release of <sale> arrives', async (course, { sale }) => {
    await mend(course, 'command held');
    return told('late release', { sale });
  }),
  step('the write of <node> arrives', async (course, { node }) => {
    await mend(course, 'command held');
    return told('late write of the node', { node: node.name });
  }),
  step('<node> has its line again', async (course, { node }) => {
    mend(course, `the line of ${node.name} is slow`);
    course.restore(node);
    return told('connection restored', { node: node.name });
  }),
  step('<node> reaches the servers of its lock again', async (course, { node }) => {
    mend(course, `${node.name} is cut off`);
    // The stock may be there, too: the write must not fail because the line has just come back.
    const isBack = await course.waitFor(() => node.redis().catch(() => undefined), STEP_LIMIT_MS);
    if (!isBack) throw new NotStagedError(`${node.name} did not reach Redis again.`);
    // Who has no majority of masters is refused in these words, too, and rightly.
    if (backendOfRow(course.stage) !== 'masters') {
      const at = course.clock.now();
      mustBeSo(course, ({ events }) => {
        const isTooEarly = (event: SaleEvent) =>
          event.node === node.name && event.at >= at && event.code === 'STORE_UNAVAILABLE';
        return !events.some(isTooEarly) || `${node.name} sold on before it could reach Redis again.`;
      });
    }
    return told('reached its lock again', { node: node.name });
  }),

  // Replicas.
  withReplication('<number> all that Redis holds', async (course, { number }) => {
    const wanted = number === 'a replica copies' ? 1 : 2;
    while (course.replicas.length < wanted) course.replicas.push(await course.startReplica());
    return told('replicas copied', { replicas: wanted });
  }),
  step('the line to <replica> is cut', async ({ mark, replicas }, { replica }) => {
    await replicas[placeOf(replica)]?.cutLine();
    mark(deed(replicas.length > 1 ? 'one replica cut off' : 'replication cut'));
    return replicas.length > 1
      ? told('replication to one cut', { replica: placeOf(replica) + 1 })
      : told('replication cut');
  }),
  step('<replica> hears of it', async ({ replicas }, { replica }) => {
    await replicas[placeOf(replica)]?.hearsAll();
    return told('replica caught up', { replica: placeOf(replica) + 1 });
  }),
  step('Redis is killed, and <replica> takes its place', async ({ killRedis, mark, replicas }, { replica }) => {
    await killRedis();
    mark(deed('Redis killed'));
    await replicas[placeOf(replica)]?.promote();
    mark(deed('replica promoted'));
    return replicas.length > 1 ? told('failed over to one', { replica: placeOf(replica) + 1 }) : told('failed over');
  }),

  // Masters that vote.
  /** Where none vote there is nothing to cut. */
  withLinks('<node> reaches a bare majority of the masters[, if there are any]', async (course, { node }) => {
    const { masterCount } = course;
    if (masterCount === 0) return told('no masters to cut');
    const quorum = quorumOf(masterCount);
    const others = Array.from({ length: masterCount }, (_, master) => master).slice(quorum);
    const restore = course.cutMasters(node, others);
    breaks(course, `${node.name} lacks masters`, deed('masters cut off', { lines: others.length }), { node }, restore);
    return told('bare majority', { node: node.name, quorum, masters: masterCount });
  }),
  step('<node> reaches all masters again', async (course, { node }) => {
    await mend(course, `${node.name} lacks masters`);
    const { masterCount: masters } = course;
    return masters === 0
      ? told('nothing to reconnect', { node: node.name })
      : told('all masters', { node: node.name, masters });
  }),
  step('<sale> has the votes of a bare majority[, if there are masters]', async (course, { sale }) => {
    const { masterCount: masters } = course;
    if (masters === 0) return told('no votes');
    const { node } = actorOf(course, sale);
    const [votes, quorum] = [await course.votesFor(node), quorumOf(masters)];
    if (votes === quorum) return told('votes', { sale, votes, masters });
    throw new NotStagedError(`${votes} masters had voted for ${node.name} instead of ${quorum}.`);
  }),
  withMasters('a master of that majority restarts empty', async (course) => {
    const quorum = quorumOf(course.masterCount);
    const isReachedBy = await course.forgetMaster(quorum - 1);
    course.mark(deed('master restarts empty', { master: quorum }));
    // Some locks keep the votes of a try that failed: they would be in their own way.
    const isReached = async () => (await isReachedBy(course.second)) || undefined;
    if (await course.waitFor(isReached, STEP_LIMIT_MS)) return told('master forgot', { master: quorum });
    throw new NotStagedError(`${course.second.name} did not reach master ${quorum} after its restart.`);
  }),

  // Clocks.
  needing('node clocks')('the clock of <node> runs <count> % slow', async (course, { node, count }) => {
    const slow = 1 - count / 100;
    const own = course.runClock(node, slow);
    const [from, ownFrom] = [course.clock.now(), own()];
    // In the middle between a clock that is right and one that is as slow as this.
    mustBeSo(course, () => {
      const isSlow = own() - ownFrom < ((1 + slow) / 2) * (course.clock.now() - from);
      return isSlow || `The clock of ${node.name} was not slow.`;
    });
    course.mark(deed('slow clock', { percent: count }), { node });
    return told('clock slowed', { node: node.name, percent: count });
  }),
  needing('links', 'clock server')('the clock of a server of the lock can be set', async (course) => {
    course.lentClock = await course.lendClock();
    if (course.masterCount > 0) return told('clock lent to a master', { master: quorumOf(course.masterCount) });
    // Where it takes the place of Redis, the stock is to be in it.
    await course.first.setStock(course.initialStock);
    return told('clock lent to Redis');
  }),
  step(
    'the clock of that server jumps ahead by a lease and <time>',
    async ({ lentClock, leaseMs, masterCount, mark }, { time }) => {
      const [ms, master] = [leaseMs + time, quorumOf(masterCount)];
      await lentClock?.jump(ms);
      mark(deed('clock jumps', { server: masterCount > 0 ? `master ${master}` : 'Redis' }));
      return masterCount > 0 ? told('clock of a master jumped', { master, ms }) : told('clock of Redis jumped', { ms });
    },
  ),
];

export function sell(course: Course, name: string, node: TargetNode) {
  const actor = { node, askedAt: course.clock.now(), sale: course.sell(node, name) };
  course.actors.set(name, actor);
  return actor;
}

/**
 * Sells, and resolves when what the sale has asked of its lock has come there, with what it recorded when it began to wait. Throws
 * NotStagedError when it does not ask.
 */
export async function sellAndAsk(course: Course, name: string, node: TargetNode): Promise<SaleEvent> {
  const { askedAt } = sell(course, name, node);
  const ask = () => course.eventsAt(node).find(({ type, at }) => type === 'waiting' && at >= askedAt);
  const asks = await course.mustSee(ask, STEP_LIMIT_MS, `${node.name} did not ask for the lock.`);
  await course.hasAsked(node);
  return asks;
}

/** Sells as the script says. Throws NotStagedError when the sale is not inside soon. */
async function sellInside(course: Course, name: string, node: TargetNode, script: SaleScript) {
  const { inside } = await trySellInside(course, name, node, script);
  if (inside === undefined) throw notInside(node);
  course.faultAt = course.clock.now();
  return howInside(course, name, inside);
}

/**
 * Sells as the script says. The sale is not inside when the lock has kept it out for `limitMs`, and its client has hung up, or when no replica
 * has confirmed its lock. Throws NotStagedError when it has ended otherwise.
 */
async function trySellInside(
  course: Course,
  name: string,
  node: TargetNode,
  script: SaleScript,
  limitMs = STEP_LIMIT_MS,
) {
  const { held } = await node.state();
  await course.catchUp([node]);
  const others = new Set(course.eventsAt(node).map(({ saleId }) => saleId));
  await node.script(script);
  const { sale, askedAt } = sell(course, name, node);
  const actor = actorOf(course, name);
  const findInside = () =>
    course.eventsAt(node).find((event) => event.at >= askedAt && !others.has(event.saleId) && isInside(event));
  await course.until(() => findInside() ?? sale.ended, limitMs);
  actor.inside = findInside();
  if (actor.inside === undefined) {
    const end = sale.ended;
    const isRefused = end !== undefined && 'code' in end && end.code === NOT_REPLICATED;
    if (end && end.outcome !== 'lockTimeout' && !isRefused) throw notInside(node, end);
    sale.hangUp();
    await sale.end;
    return { ...actor, isRefused };
  }
  actor.isHeld = script.untilResumed ?? script.beforeNestedCall ?? false;
  // A sale without a lock has begun, and comes to its business later: what is resumed before that is not held yet.
  if (actor.isHeld)
    await course.waitFor(async () => sale.ended || (await node.state()).held > held || undefined, limitMs);
  const { inside } = actor;
  if (course.eventsAt(node).some((event) => event.type === 'left' && isSame(event, inside))) throw notInside(node);
  return { ...actor, isRefused: false };
}

/**
 * A sale under a lock has read the stock by the time it can be broken; one without a lock reads it in its only step. One that finds
 * nothing left does not stay.
 */
const isInside = ({ type, stock }: SaleEvent) => (type === 'read' && stock !== 0) || type === 'began';

/** A sale is not inside that is to be. */
function notInside({ name }: TargetNode, end?: SaleEnd) {
  const answer = end && 'code' in end ? `: it was answered ${end.code}` : '';
  return new NotStagedError(`The sale on ${name} did not stay inside${answer}.`);
}

async function sellNested(course: Course, { sale, node, time, which }: Values<'sale' | 'node' | 'time' | 'which'>) {
  const { leaseMs } = course;
  const nestedCall = which === 'the same' ? true : 'another object';
  const script = { beforeNestedCall: true, nestedCall, pauseMs: time } as const;
  const said = await sellInside(course, sale, node, script);
  const inside = insideOf(course, sale);
  course.mark(deed('asks again'), { sale: inside });
  mustBeSo(course, ({ events }) => {
    const own = events.filter((event) => isSame(event, inside));
    const [entered, again] = ['entered', 'nested'].map((type) => own.find((event) => event.type === type)?.at);
    if (again === undefined) return 'The sale did not ask for its own lock again.';
    const isEarly = entered === undefined || again - entered <= leaseMs * LATEST_ASK;
    return isEarly || 'The sale asked again when its lease was about to end.';
  });
  return said;
}

/** Nobody else has got in since then. Returns for how long, in milliseconds. */
function allWait(course: Course, since: number): number {
  course.ending = 'if all waited';
  const keptOutMs = course.clock.now() - since;
  Object.assign(course.figures, { keptOutMs });
  return keptOutMs;
}

/** Says what is known of a sale that is inside: without a lock it may not have read the stock yet. */
function howInside(course: Course, sale: string, inside: SaleName): StepSentence {
  const { node } = inside;
  const read = course.events().find((event) => event.type === 'read' && isSame(event, inside));
  if (read?.stock === undefined) return told('began', { sale, node });
  return told(hasLock(course.stage) ? 'got in' : 'read', { sale, node, stock: read.stock });
}

/**
 * Counts how often a node asks for the lock from now on, on behalf of the sale that comes next. What is returned tells it: 0 where it can't
 * be read, or others wait there as well.
 */
function countTries(course: Course, node: TargetNode): () => number {
  const before = course.triesOf(node);
  const isAlone = course.waitingAt(node) === 0;
  return () => (isAlone ? course.triesOf(node) - before : 0);
}

const gaveUp = (sale: string, tries: number, ms: number) =>
  tries > 0 ? told('gave up', { sale, tries, ms }) : told('waited in vain', { sale, ms });

/** What was answered to a sale, to that of a basket or to a look. */
export function howEnded(sale: string, end: Awaited<Actor['sale']['end']>): StepSentence {
  switch (end.outcome) {
    case 'sold':
      return 'skus' in end.sale
        ? told('sold a basket', { sale, skus: end.sale.skus.map(({ sku }) => sku) })
        : told('sold', { sale, before: end.sale.stockBefore, after: end.sale.remaining });
    case 'looked':
      return told('was answered', { sale, remaining: end.remaining });
    case 'inDoubt':
      return told('was left in doubt', { sale, code: end.code });
    case 'nonsense':
      return told('was answered nonsense', { sale });
    case 'cutOff':
      return told('got no answer', { sale, ms: end.ms });
    default:
      return told('was refused', { sale, code: end.code });
  }
}

/** How the lease of a sale ended that was made to. */
const howLeasesEnd = { ended: 'lease ended', endless: 'lease has no end', free: 'no lease' } as const;

/** Lets a sale go on that is held inside. Throws NotStagedError when it has left already. One that was kept out has nothing to resume. */
async function goOn(course: Course, name: string, resume = actorOf(course, name).node.resume) {
  const actor = actorOf(course, name);
  const at = course.clock.now();
  if (actor.held === undefined && actor.inside === undefined) return { at, hasResumed: false };
  mustStillWait(course);
  actor.wentOnAt = at;
  await actor.held?.goOn();
  if (actor.inside) {
    mustBeInside(course, actor.inside, at);
    // Redis may have answered a node that can't write yet, so what it has told is heard first.
    await course.catchUp([actor.node]);
    actor.isHeld = false;
    mend(course, `${name} stalls`);
    await resume();
  }
  return { at, hasResumed: true };
}

/** In the end none may have entered by now that is to wait. */
export function mustStillWait(course: Course) {
  const at = course.clock.now();
  for (const { asks } of course.actors.values()) {
    if (asks === undefined) continue;
    mustBeSo(course, ({ events }) => {
      const isThrough = events.some((event) => event.type === 'entered' && event.at < at && isSame(event, asks));
      return !isThrough || `Sale ${asks.saleId} on ${asks.node} did not wait for the lock.`;
    });
  }
}

/** Masters that had no time to vote for one who is inside may have given its lock away. Throws NotStagedError. */
async function mustHaveHadVotes({ actors, masterCount, mustHaveGoneOn }: Course) {
  const isHeld = [...actors.values()].some((actor) => actor.isHeld);
  if (isHeld && masterCount > 0) await mustHaveGoneOn(VOTE_STANDSTILL_MS);
}

/** Waits for the answer of a sale, and tells it. Throws NotStagedError when it is none of these. */
async function answered(course: Course, name: string, expected: string[]) {
  const end = await actorOf(course, name).sale.end;
  const answer = end.outcome === 'sold' ? 'sold' : 'code' in end ? end.code : end.outcome;
  if (answer === NOT_REPLICATED) course.ending = 'if A is refused';
  // On a busy machine a replica is too slow to confirm, and a lease ends too soon.
  if (!expected.includes(answer)) throw new NotStagedError(`The sale was answered ${answer}.`);
  return howEnded(name, end);
}

/**
 * Sells a few units on a node, one after the other, for so long at most in all. When nothing was sold, whoever wanted to must have had to
 * wait; but nobody waits for one who was refused.
 */
async function sellMeanwhile(course: Course, { node, limit, sale }: Values<'node' | 'limit'> & { sale?: string }) {
  const holder = sale === undefined ? undefined : actorOf(course, sale);
  const isRefused = holder !== undefined && holder.inside === undefined;
  const limitMs = isRefused ? REFUSED_MS : limit;
  await course.say(told('others came', { node: node.name }));
  const triesSince = countTries(course, node);
  await node.script({ pauseMs: SALE_MS, times: MEANWHILE });
  const startedAt = course.clock.now();
  const leftMs = () => startedAt + limitMs - course.clock.now();
  let sold = 0;
  while (sold < MEANWHILE && leftMs() > 0) {
    if ((await course.sell(node).endWithin(leftMs())).outcome === 'sold') sold += 1;
    else await course.clock.sleep(SOON_MS);
  }
  const [tries, ms] = [triesSince(), course.clock.now() - startedAt];
  Object.assign(course.figures, { soldMeanwhile: sold });
  if (holder?.inside) {
    mustBeInside(course, holder.inside);
    mustBeSo(course, async () => {
      const { outcome } = await holder.sale.end;
      return sold > 0 || outcome === 'sold' || 'After the fault nobody could sell at all.';
    });
  }
  // Any lease that still runs ends meanwhile.
  if (holder === undefined) await course.clock.sleep(Math.max(0, leftMs()));
  if (!isRefused && sold === 0) {
    await course.mustHaveWaited(node, startedAt);
    allWait(course, startedAt);
  }
  if (sold > 0) return told('others sold', { node: node.name, sold, ms });
  return tries > 0
    ? told('others asked in vain', { node: node.name, tries, ms })
    : told('others sold nothing', { node: node.name, ms });
}

/**
 * Buyers who come over both nodes in turn, each again when it has its answer. Returns what stops them: that resolves when the last one has
 * its answer.
 */
function comeAgain(course: Course, count: number) {
  let areComing = true;
  const all = Promise.all(
    Array.from({ length: count }, async (_, buyer) => {
      while (areComing) {
        const { outcome } = await course.sell(buyer % 2 ? course.first : course.second).end;
        if (outcome !== 'sold') await course.clock.sleep(AGAIN_MS);
      }
    }),
  );
  // A drill that is stopped waits for nobody.
  all.catch(() => {});
  return () => {
    areComing = false;
    return all;
  };
}

/** Those of this node who are inside must leave, and not before this moment on the shared clock. */
function mustLeaveAfter(course: Course, node: TargetNode, at: number, otherwise: string) {
  for (const { node: its, inside } of course.actors.values()) {
    if (its !== node || inside === undefined) continue;
    mustBeInside(course, inside, at, otherwise);
    const hasLeft = (event: SaleEvent) => event.type === 'left' && isSame(event, inside);
    mustBeSo(course, ({ events }) => events.some(hasLeft) || otherwise);
  }
}

/** Lets a sale go on, whose next such command is held on its line; or that of another node. */
async function holdUp(course: Course, name: string, what: 'write' | 'release', other?: TargetNode) {
  const { release = { isMeant: isRelease } } = course;
  const node = other ?? actorOf(course, name).node;
  const isMeant = what === 'write' ? isStockWrite : release.isMeant;
  const command = await course.holdOnItsWay(node, isMeant, async () => void (await goOn(course, name)));
  const hit = other ? { node } : { sale: insideOf(course, name) };
  breaks(course, 'command held', deed('held', { command: what }), hit, command.goOn);
}

/** Another who is inside when a late write comes has read the stock, and has not yet written. */
function mustHaveRead(course: Course, inside: SaleName) {
  const { saleId, node } = inside;
  const at = course.clock.now();
  mustBeSo(course, ({ events, ends }) => {
    const own = events.filter((event) => isSame(event, inside));
    const [read, wrote, failed] = ['read', 'wrote', 'failed'].map((type) => own.find((event) => event.type === type));
    if (read === undefined || read.at > at) {
      const reason = `Sale ${saleId} had not read the stock when the late write came: its reading and its writing are one step.`;
      throw new NotStagedError(reason, { nothingToBreak: true });
    }
    if (own.some((event) => ['wrote', 'left'].includes(event.type) && event.at < at)) {
      return `Sale ${saleId} on ${node} was not inside any more when the late write came.`;
    }
    return Boolean(wrote ?? failed) || ends.length === 0 || `Sale ${saleId} was neither written nor refused.`;
  });
}

/** Which replica is meant, from 0. */
const placeOf = (replica: string) => (replica === 'the second replica' ? 1 : 0);

export const quorumOf = (masters: number) => Math.floor(masters / 2) + 1;
