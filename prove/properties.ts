// The demands, checked in every state.

import { endOf, type LockKeys, namesFor } from './lock-keys.ts';
import { GIVEN_UP, type Touch } from './moves/move.ts';
import type { Told } from './process.ts';
import { inBuckets, keysOf, LEASE_MS, LOCK_KEY, RETRY_DELAY_MS, STOCK_KEY } from './sale.ts';
import { type Demand, type Scope, skusOf, unitsInBuckets } from './scopes.ts';
import type { Server } from './server.ts';
import { type Actor, nameOf, STOCK, type State } from './state.ts';
import { type Leftover, type SearchSentence, says } from './wording.ts';

/** How long a lock may be free while a process waits, in milliseconds: a waiter may spread its tries over half a delay more. */
const FREE_MS = 1.5 * RETRY_DELAY_MS;
/** How long after a crash a process must be inside, in milliseconds. */
const TAKEOVER_MS = 2 * LEASE_MS;
/** A timer that fires for so long after all sales, in milliseconds, is one that nobody ends, and so is a wait for a lock that is free. */
const LINGERING_MS = 3 * LEASE_MS;

/** Keys that outlive a sale: the stock, the numbers that fence it, and what the lock keeps when it is free. */
function stayingOf(scope: Scope, { staying }: LockKeys): string[] {
  const keys = skusOf(scope).map(keysOf);
  const locks = [...keys.map(({ lock }) => lock), ...inBuckets(LOCK_KEY)];
  return [
    ...keys.flatMap(({ stock, fence }) => [stock, fence]),
    ...inBuckets(STOCK_KEY),
    ...locks.flatMap((lock) => namesFor(staying, lock)),
  ];
}

/** What is demanded by the leases of a lock, and by when it is free. */
export const ofKeys: Demand[] = [
  'alone within leases',
  'untouched',
  'soon after a crash',
  'no deadlock',
  'no wait for a free lock',
];

/** What a check of a state needs besides the state. */
export interface Known {
  leaseEndOf: (actor: Actor, bucket?: number) => number;
  server: Server;
  lock: LockKeys;
}

/**
 * The first demand that this state violates. `touches` says whose command has just changed the lock.
 * A process that its own code has ended is a violation whatever is demanded, and so is a sale that was refused while a unit was left.
 */
export function violated(state: State, scope: Scope, known: Known, touches?: Touch): SearchSentence | undefined {
  for (const [index, { history }] of state.actors.entries()) {
    const { death } = history.seen;
    if (death !== undefined) return says('died', { process: nameOf(index), why: death });
  }
  const refused = state.sawEmpty.findIndex((hasSeen, index) => !hasSeen && isSoldOut(state.actors[index] as Actor));
  if (refused >= 0) return says('refused, though a unit was left', { process: nameOf(refused) });
  const ofScopes = {
    'no deadlock': deadlock,
    'within permits': moreThanPermits,
    'no wait for a free lock': waitsForFreeLock,
  };
  for (const demand of scope.demands) {
    const ofScope = Object.hasOwn(ofScopes, demand) && ofScopes[demand as keyof typeof ofScopes];
    const reason = ofScope ? ofScope(state, scope, known) : look(state, demand, known, touches);
    if (reason) return reason;
  }
  return undefined;
}

function look(state: State, demand: Demand, { leaseEndOf }: Known, touches?: Touch): SearchSentence | undefined {
  const { at, actors, crashedAt } = state;
  switch (demand) {
    case 'alone':
      return together(actors, () => true, 'together');
    case 'alone within leases': {
      const isWithin = (actor: Actor, bucket: number) => leaseEndOf(actor, bucket) > at;
      return together(actors, isWithin, 'together within leases');
    }
    case 'same stock': {
      const reader = actors.findIndex(({ history }) => history.seen.isReader && hasSeenAnother(history.seen.told));
      return reader < 0 ? undefined : says('another stock', { process: nameOf(reader) });
    }
    case 'untouched': {
      const refused = actors.findIndex((actor) => isRefusedWithin(actor, leaseEndOf(actor)));
      if (refused >= 0) return says('refused within its lease', { process: nameOf(refused) });
      if (touches === undefined) return undefined;
      const { process, place } = touches;
      const isThere = ({ isInside, insideOf }: Actor) =>
        state.sawEmpty.length > 0 ? insideOf.includes(place) : isInside;
      const isOther = (actor: Actor) => actor !== actors[process] && isThere(actor);
      const careless = actors.findIndex((actor) => isOther(actor) && actor.leaseEnds[place] === GIVEN_UP);
      if (careless >= 0) return says('gave its lock up', { process: nameOf(careless), other: nameOf(process) });
      const other = actors.findIndex((actor) => isOther(actor) && (actor.leaseEnds[place] ?? 0) > at);
      if (other < 0) return undefined;
      return says("changes another's lock", { process: nameOf(process), holder: nameOf(other) });
    }
    case 'soon after a crash': {
      if (at <= crashedAt + TAKEOVER_MS) return undefined;
      const isWaiting = actors.some((actor) => isAwake(actor) && waitsSince(actor, crashedAt));
      return isWaiting ? says('nobody after a crash', { ms: TAKEOVER_MS }) : undefined;
    }
    case 're-entry': {
      const told = actors[0]?.history.seen.told ?? [];
      const entered = told.find(({ step }) => step === 'entered');
      const nested = told.find(({ step }) => step === 'nested');
      const isLate = entered && (nested?.at ?? at) >= entered.at + LEASE_MS && told.some(({ step }) => step === 'read');
      return isLate ? says('waits for its own lock', { process: nameOf(0) }) : undefined;
    }
    case 'no entry after a hang-up': {
      const unwanted = actors.findIndex(({ history }) => history.seen.told.some(({ isUnwanted }) => isUnwanted));
      return unwanted < 0 ? undefined : says('enters after a hang-up', { process: nameOf(unwanted) });
    }
    case 'all sell':
      for (const [index, { history }] of actors.entries()) {
        const failed = history.seen.told.find(({ step }) => step === 'failed');
        if (failed && !(state.frozen.length > 0 && hasWritten(history.seen.told, failed)))
          return says('sale failed', { process: nameOf(index), why: failed.why });
      }
      return undefined;
    default:
      return undefined;
  }
}

/** Each client that has gone may have been the next of a queue: who comes after it finds that out when it looks again. */
function waitsForFreeLock({ at, actors, budget, freeSince }: State, scope: Scope): SearchSentence | undefined {
  const gone = (scope.budget.hangUps ?? 0) - budget.hangUps;
  if (at <= freeSince + FREE_MS + gone * RETRY_DELAY_MS || actors.some(({ isInside }) => isInside)) return undefined;
  const waiter = actors.findIndex((actor) => isAwake(actor) && waitsSince(actor, freeSince));
  return waiter < 0 ? undefined : says('waits for a free lock', { process: nameOf(waiter), ms: at - freeSince });
}

/**
 * The sale that failed is in the stock: its release failed. While a master is frozen, too few of the others may have voted for the holder
 * to confirm that it still had the lock.
 */
function hasWritten(told: Told[], failed: Told): boolean {
  return told.some(({ step, sale }) => step === 'wrote' && sale === failed.sale);
}

/** One look has read two different stocks. */
function hasSeenAnother(told: Told[]): boolean {
  return told.some(({ sale, stock }, at) =>
    told.some(
      (other, later) =>
        later > at && other.sale === sale && stock !== undefined && other.stock !== undefined && other.stock !== stock,
    ),
  );
}

/**
 * Nobody is inside, nothing is on its way, and all who are there wait; yet every lock is held. So each of those who hold one waits for
 * another's.
 */
function deadlock({ at, servers, actors }: State, scope: Scope, { server, lock }: Known): SearchSentence | undefined {
  const there = actors.filter(({ status, history }) => status !== 'comes' && !history.seen.isOver);
  const isStill = ({ waitsSince, isInside, heads, inbox, replies }: Actor) =>
    waitsSince !== undefined && !isInside && heads.length + inbox.length + replies.length === 0;
  if (there.length < 2 || !there.every(isStill)) return undefined;
  const ends = server.ends(servers[0] as number);
  const isHeld = (sku: number) => endOf(namesFor(lock.held, keysOf(sku).lock), ends) > at;
  if (!skusOf(scope).every(isHeld)) return undefined;
  return says('deadlock', { processes: there.map((actor) => nameOf(actors.indexOf(actor))) });
}

function moreThanPermits({ actors }: State, { permits = 1 }: Scope): SearchSentence | undefined {
  const inside = actors.filter(({ isInside }) => isInside).length;
  return inside > permits ? says('more than permits', { inside, permits }) : undefined;
}

const isAwake = ({ status }: Actor) => status === 'runs';
const waitsSince = (actor: Actor, time: number) => actor.waitsSince !== undefined && actor.waitsSince <= time;

/** The stock took its token for an old one while its lease ran. */
const isRefusedWithin = ({ history }: Actor, leaseEnd: number) =>
  history.seen.told.some(({ at, isStale }) => at < leaseEnd && isStale);

const isSoldOut = ({ history }: Actor) => history.seen.told.some(({ step }) => step === 'sold out');

/** Two processes that are inside of one bucket, and do not both only look. */
function together(
  actors: readonly Actor[],
  isMeant: (actor: Actor, bucket: number) => boolean,
  form: 'together' | 'together within leases',
) {
  for (let one = 0; one < actors.length; one += 1) {
    const actor = actors[one] as Actor;
    for (const bucket of actor.insideOf) {
      if (!isMeant(actor, bucket)) continue;
      for (let two = one + 1; two < actors.length; two += 1) {
        const other = actors[two] as Actor;
        const areReaders = actor.history.seen.isReader && other.history.seen.isReader;
        if (!areReaders && other.insideOf.includes(bucket) && isMeant(other, bucket))
          return says(form, { one: nameOf(one), other: nameOf(two) });
      }
    }
  }
  return undefined;
}

/** The demand that the last state of an interleaving violates. */
export function violatedAtEnd(state: State, scope: Scope, server: Server, lock: LockKeys): SearchSentence | undefined {
  const { servers, actors } = state;
  const { demands } = scope;
  const staying = stayingOf(scope, lock);
  const stuck = actors.findIndex(({ status, history }) => status === 'runs' && !history.seen.isOver);
  if (stuck >= 0) return waitsForEver(stuck, actors[stuck] as Actor, scope);
  if (demands.includes('nothing left')) {
    const left = [
      ...servers.flatMap((each) => [
        ...[...server.ends(each).keys()].filter((key) => !staying.includes(key)).map(keyLeft),
        ...server.channels(each).map(channelLeft),
      ]),
      ...actors.flatMap(({ history }, index) => history.seen.timers.map(({ due }) => timerLeft(nameOf(index), due))),
    ];
    if (left.length > 0) return says('something left', { left });
  }
  const lost = demands.includes('no lost sale') ? lostSale(state, scope, server) : undefined;
  return lost ?? (demands.includes('alone') ? togetherInOne(actors, scope) : undefined);
}

const keyLeft = (key: string): Leftover => ({ form: 'key', values: { key } });
const channelLeft = (channel: string): Leftover => ({ form: 'subscription', values: { channel } });
const timerLeft = (process: string, ms: number): Leftover => ({ form: 'timer', values: { process, ms } });

/** Where a process makes its sales at the same time it is said which of them wait. */
function waitsForEver(index: number, { history: { seen } }: Actor, { script }: Scope): SearchSentence {
  const process = nameOf(index);
  return script?.(index).isAtOnce
    ? says('sales never end', { process, sales: seen.open })
    : says('waits for ever', { process });
}

/**
 * What a state violates after which the search goes no further. All sales ended long ago, and a timer still fires, or somebody waits though
 * the lock has been free for long: what ends later than that is taken for what never does.
 */
export function violatedAtHorizon(
  { at, freeSince, actors }: State,
  { demands }: Scope,
  lock: LockKeys,
): SearchSentence | undefined {
  const stuck = actors.findIndex((actor) => isAwake(actor) && waitsSince(actor, freeSince));
  if (stuck >= 0 && !lock.unclear && at >= freeSince + LINGERING_MS)
    return says('still waits', { process: nameOf(stuck), ms: at - freeSince });
  if (!demands.includes('nothing left') || !actors.every(({ history }) => history.seen.isOver)) return undefined;
  const index = actors.findIndex(({ status, history }) => status === 'runs' && history.seen.timers.length > 0);
  const endedAt = actors[index]?.history.seen.told.at(-1)?.at;
  if (endedAt === undefined || at < endedAt + LINGERING_MS) return undefined;
  return says('timer still fires', { process: nameOf(index), ms: at - endedAt });
}

/** Checks the stock: every confirmed sale must be in it. */
function lostSale(state: State, scope: Scope, server: Server): SearchSentence | undefined {
  const { at, servers, actors } = state;
  const readUnits = (key: string) => Number(server.execute(servers[0] as number, at, 0, ['GET', key]).reply);
  if (state.sawEmpty.length > 0) {
    const times = (what: string) =>
      actors.flatMap(({ history }) => history.seen.told.filter(({ step }) => step === what)).length;
    const units = unitsInBuckets(scope);
    const all = units.reduce((sum, each) => sum + each, times('put back'));
    const left = inBuckets(STOCK_KEY).reduce((sum, key) => sum + readUnits(key), 0);
    const due = all - times('wrote');
    if (left < due && times('put back') > 0) return says('lost what was put back', { due, left });
    return left <= due ? undefined : says('lost', { sold: times('wrote'), stock: all, left });
  }
  for (const sku of skusOf(scope)) {
    const { stock: key } = keysOf(sku);
    const sold = actors.filter((_, index) => sellsOf(scope, index).includes(sku)).reduce(writesOf, 0);
    const left = readUnits(key);
    const units = { sold, stock: STOCK, left };
    if (left > STOCK - sold) return sku === 1 ? says('lost', units) : says('lost of a sku', { ...units, key });
  }
  return undefined;
}

/**
 * Two sales of one process that were inside of one bucket, where it makes them at the same time: what a strategy sells together is
 * inside together. It is looked at when all is over, because until then it may be seen what was lost by it, which says more.
 */
function togetherInOne(actors: readonly Actor[], { script }: Scope): SearchSentence | undefined {
  const found = actors.findIndex(
    ({ history }, index) => script?.(index).isAtOnce && !history.seen.isReader && hasMet(history.seen.told),
  );
  return found < 0 ? undefined : says('sales together', { process: nameOf(found) });
}

function hasMet(told: Told[]): boolean {
  const inside = new Map<number, number>();
  for (const { step, sale, bucket = 0 } of told) {
    if (step === 'left' || step === 'failed') inside.delete(sale);
    if (step !== 'entered') continue;
    if ([...inside.values()].includes(bucket)) return true;
    inside.set(sale, bucket);
  }
  return false;
}

/** The skus that each sale of a process takes. */
const sellsOf = ({ script }: Scope, process: number) => script?.(process).basket ?? [1];

const writesOf = (sum: number, { history }: Actor) =>
  sum + history.seen.told.filter(({ step }) => step === 'wrote').length;
