// Sentences about a sale that arrives: it asks for the lock, enters, is refused or gives up.

import { hasLock } from '../../locks/index.ts';
import type { SaleEvent, SaleScript } from '../../services/inventory/sale/contract.ts';
import type { Asked } from '../../services/inventory/sale/sku.ts';
import type { SaleEnd } from '../evidence/answers.ts';
import { isSame, type SaleName } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { TargetNode } from '../harness/target.ts';
import { NOT_REPLICATED, STEP_LIMIT_MS } from '../harness/test-bed.ts';
import { deed } from '../narration/faults.ts';
import { type StepSentence, told } from '../narration/steps.ts';
import { howEnded } from './endings.ts';
import { actorOf, insideOf, mustBeSo, needing, type Playing, setting, step } from './playing.ts';
import type { Values } from './sentence.ts';

/** The part of a lease that may pass until the waiters have asked: the rest must be enough for what follows. */
const LATEST_ASK = 1 / 2;
/** The shortest standstill that may explain why masters did not renew a lease in time, in milliseconds: they have 50. */
const VOTE_STANDSTILL_MS = 25;

/** Needs sales that stay inside between read and write for as long as the drill says. */
const withPause = needing('business pause');

export const steps = [
  // What a scenario begins with.
  setting('a lease lasts <time>', ({ time }) => ({ timing: { leaseMs: time } })),
  setting('it is renewed every <time>', ({ time }) => ({ timing: { renewEveryMs: time } })),
  setting('the lock is per user', () => ({ timing: { scope: 'user' }, needs: ['user lock'] })),
  setting('this is played once for each command of a release', () => ({ playsEachRelease: true })),

  // Sales.
  step('<sale> sells at <node>', async (playing, { sale, node }) => {
    sell(playing, sale, node);
    return told('came', { sale, node: node.name });
  }),
  step('<sale> sells at <node>, and asks for the lock', async (playing, { sale, node }) => {
    await sellAndAsk(playing, sale, node);
    return told('asked for the lock', { sale, node: node.name });
  }),
  withPause('<sale> sells at <node> for <time>', async (playing, { sale, node, time }) => {
    const ms = Math.min(time, playing.wire.longestSaleMs);
    await node.script({ pauseMs: ms });
    sell(playing, sale, node);
    return told('came for', { sale, node: node.name, ms });
  }),
  withPause('<sale> sells at <node> and is held inside', (playing, { sale, node }) =>
    sellInside(playing, sale, node, { untilResumed: true }),
  ),
  withPause('<sale> sells at <node> for <time> and is inside', (playing, { sale, node, time }) =>
    sellInside(playing, sale, node, { pauseMs: time }),
  ),
  needing('computing sales')(
    '<sale> sells at <node> and is held inside, then computes for <time>',
    (playing, { sale, node, time }) => sellInside(playing, sale, node, { untilResumed: true, blockMs: time }),
  ),
  needing('failing sales')('<sale> sells at <node> and is held inside, then fails', (playing, { sale, node }) =>
    sellInside(playing, sale, node, { untilResumed: true, fails: true }),
  ),
  needing('nested calls')(
    '<sale> sells at <node>, and releases its lock once after acquiring it twice',
    async (playing, { sale, node }) => {
      await node.script({ nestedCall: true, forgetsRelease: true });
      const { outcome } = await sell(playing, sale, node).sale.endWithin(2 * playing.leaseMs);
      await playing.record.catchUp([node]);
      const hasAskedAgain = playing.record.eventsAt(node).some(({ type }) => type === 'nested');
      if (outcome !== 'sold' || !hasAskedAgain) {
        throw new NotStagedError(`${sale} could not acquire its lock twice.`, { nothingToBreak: true });
      }
      return told('forgot a release', { sale, node: node.name });
    },
  ),
  needing('nested calls')(
    '<sale> sells at <node> for <time>, and is held before it acquires again with <which> lock object',
    sellNested,
  ),
  withPause('<sale> sells at <node> and is held inside, or waits for <limit>', async (playing, filled) => {
    await playing.say(told('came', { sale: filled.sale, node: filled.node.name }));
    return sellOrWait(playing, filled);
  }),
  withPause(
    '<sale> sells at <node> for user <user> and is held inside, or waits for <limit>',
    async (playing, { user, ...filled }) => {
      await playing.say(told('came for a user', { sale: filled.sale, node: filled.node.name, user }));
      return sellOrWait(playing, filled, { user });
    },
  ),
  withPause(
    '<sale> sells at <node> for <time>, waits for <limit> at most, and is inside',
    async (playing, { sale, node, time: ms, limit: waitMs }) => {
      await playing.say(told('came to wait at most', { sale, node: node.name, ms, waitMs }));
      return sellInside(playing, sale, node, { pauseMs: ms }, { waitMs });
    },
  ),
  needing('business pause', 'own lease')(
    '<sale> sells at <node> for <time> under a lease of <limit>, and is inside',
    async (playing, { sale, node, time: ms, limit: leaseMs }) => {
      await playing.say(told('came under a lease', { sale, node: node.name, ms, leaseMs }));
      return sellInside(playing, sale, node, { pauseMs: ms }, { leaseMs });
    },
  ),
  needing('links')('the lease of <sale> is renewed', async (playing, { sale }) => {
    const { node } = actorOf(playing, sale);
    await untilRenewed(playing, node);
    return told('lease renewed', { sale });
  }),
  withPause('<sale> sells at <node> and is held inside, or is refused', async (playing, { sale, node }) => {
    const { inside, isRefused } = await trySellInside(playing, sale, node, { untilResumed: true });
    if (inside !== undefined) return howInside(playing, sale, inside);
    if (!isRefused) throw notInside(node);
    playing.ending = 'if A is refused';
    return told('lock not confirmed', { sale });
  }),
  step('<sale> sells at <node>, and gives up after <limit>', async (playing, { sale, node, limit }) => {
    await playing.say(told('came', { sale, node: node.name }));
    const triesSince = countTries(playing, node);
    const { askedAt, sale: running } = sell(playing, sale, node);
    const end = await running.endWithin(limit);
    const tries = triesSince();
    if (end.outcome === 'sold') {
      await mustHaveHadVotes(playing);
      return howEnded(sale, end);
    }
    await playing.record.mustHaveWaited(node, askedAt);
    return gaveUp(sale, tries, end.ms);
  }),
];

export function sell(playing: Playing, name: string, node: TargetNode, asked?: Asked) {
  const actor = { node, askedAt: playing.clock.now(), sale: playing.sales.sell(node, name, asked) };
  playing.actors.set(name, actor);
  return actor;
}

/**
 * Sells, and resolves when what the sale has asked of its lock has come there, with what it recorded when it began to wait. Throws
 * NotStagedError when it does not ask.
 */
export async function sellAndAsk(playing: Playing, name: string, node: TargetNode): Promise<SaleEvent> {
  const { askedAt } = sell(playing, name, node);
  const ask = () => playing.record.eventsAt(node).find(({ type, at }) => type === 'waiting' && at >= askedAt);
  const asks = await playing.record.mustSee(ask, STEP_LIMIT_MS, `${node.name} did not try to acquire the lock.`);
  await playing.lock.hasAsked(node);
  return asks;
}

/** Sells as the script says. Throws NotStagedError when the sale does not enter soon. */
async function sellInside(playing: Playing, name: string, node: TargetNode, script: SaleScript, asked?: Asked) {
  const { inside } = await trySellInside(playing, name, node, script, STEP_LIMIT_MS, asked);
  if (inside === undefined) throw notInside(node);
  playing.faultAt = playing.clock.now();
  return howInside(playing, name, inside);
}

/** Starts a sale that is held inside. It gives up when it is kept out for so long. */
async function sellOrWait(playing: Playing, { sale, node, limit }: Values<'sale' | 'node' | 'limit'>, asked?: Asked) {
  const triesSince = countTries(playing, node);
  const { askedAt, inside } = await trySellInside(playing, sale, node, { untilResumed: true }, limit, asked);
  const tries = triesSince();
  if (inside !== undefined) return howInside(playing, sale, inside);
  await playing.record.mustHaveWaited(node, askedAt);
  return gaveUp(sale, tries, allWait(playing, askedAt));
}

/** Resolves when a node has renewed a lease. Throws NotStagedError when it renews none within a lease. */
async function untilRenewed({ wire, faults, record, leaseMs }: Playing, node: TargetNode) {
  let isRenewed = false;
  const unwatch = faults.watchCommands(node, (command) => {
    isRenewed ||= wire.isRenewal(command);
    record.ring();
  });
  await record.mustSee(() => isRenewed || undefined, leaseMs, `${node.name} did not renew the lease.`).finally(unwatch);
}

/**
 * Sells as the script says. The sale is not inside when the lock has kept it out for `limitMs`, and its client has hung up, or when no replica
 * has confirmed its lock. Throws NotStagedError when it has ended otherwise.
 */
async function trySellInside(
  playing: Playing,
  name: string,
  node: TargetNode,
  script: SaleScript,
  limitMs = STEP_LIMIT_MS,
  asked: Asked = {},
) {
  const { held } = await node.state();
  await playing.record.catchUp([node]);
  const others = new Set(playing.record.eventsAt(node).map(({ saleId }) => saleId));
  await node.script(script);
  const { sale, askedAt } = sell(playing, name, node, asked);
  const actor = actorOf(playing, name);
  const findInside = () =>
    playing.record.eventsAt(node).find((event) => event.at >= askedAt && !others.has(event.saleId) && isInside(event));
  await playing.record.until(() => findInside() ?? sale.ended, limitMs);
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
    await playing.record.waitFor(async () => sale.ended || (await node.state()).held > held || undefined, limitMs);
  const { inside } = actor;
  if (playing.record.eventsAt(node).some((event) => event.type === 'left' && isSame(event, inside)))
    throw notInside(node);
  return { ...actor, isRefused: false };
}

/**
 * A sale under a lock has read the stock by the time it can be broken; one without a lock reads it in its only step. One that finds
 * nothing left does not stay.
 */
const isInside = ({ type, stock }: SaleEvent) => (type === 'read' && stock !== 0) || type === 'began';

/** The error for a sale that should be inside and is not. */
function notInside({ name }: TargetNode, end?: SaleEnd) {
  const answer = end && 'code' in end ? `: it got the response ${end.code}` : '';
  return new NotStagedError(`The sale on ${name} did not stay inside${answer}.`);
}

async function sellNested(playing: Playing, { sale, node, time, which }: Values<'sale' | 'node' | 'time' | 'which'>) {
  const { leaseMs } = playing;
  const nestedCall = which === 'the same' ? true : 'another object';
  const script = { beforeNestedCall: true, nestedCall, pauseMs: time } as const;
  const said = await sellInside(playing, sale, node, script);
  const inside = insideOf(playing, sale);
  playing.mark(deed('asks again'), { sale: inside });
  mustBeSo(playing, ({ events }) => {
    const own = events.filter((event) => isSame(event, inside));
    const [entered, again] = ['entered', 'nested'].map((type) => own.find((event) => event.type === type)?.at);
    if (again === undefined) return 'The sale did not try to acquire its own lock again.';
    const isEarly = entered === undefined || again - entered <= leaseMs * LATEST_ASK;
    return isEarly || 'The sale tried again when its lease was about to end.';
  });
  return said;
}

/** Notes that nobody else has entered since then. Returns for how long, in milliseconds. */
export function allWait(playing: Playing, since: number): number {
  playing.ending = 'if all waited';
  const keptOutMs = playing.clock.now() - since;
  Object.assign(playing.figures, { keptOutMs });
  return keptOutMs;
}

/** Narrates a sale that is inside: without a lock it may not have read the stock yet. */
function howInside(playing: Playing, sale: string, inside: SaleName): StepSentence {
  const { node } = inside;
  const read = playing.record.events().find((event) => event.type === 'read' && isSame(event, inside));
  if (read?.stock === undefined) return told('began', { sale, node });
  return told(hasLock(playing.stage) ? 'got in' : 'read', { sale, node, stock: read.stock });
}

/**
 * Counts how often a node asks for the lock from now on, on behalf of the sale that comes next. What is returned tells it: 0 where it can't
 * be read, or others wait there as well.
 */
export function countTries(playing: Playing, node: TargetNode): () => number {
  const before = playing.lock.triesOf(node);
  const isAlone = playing.record.waitingAt(node) === 0;
  return () => (isAlone ? playing.lock.triesOf(node) - before : 0);
}

const gaveUp = (sale: string, tries: number, ms: number) =>
  tries > 0 ? told('gave up', { sale, tries, ms }) : told('waited in vain', { sale, ms });

/** Throws NotStagedError when masters may have given the lock of a sale away because they had no time to vote for it. */
async function mustHaveHadVotes({ actors, lock, mustHaveGoneOn }: Playing) {
  const isHeld = [...actors.values()].some((actor) => actor.isHeld);
  if (isHeld && lock.masterCount > 0) await mustHaveGoneOn(VOTE_STANDSTILL_MS);
}
