// What must be true, looked at in every state.

import type { Touch } from './moves.ts';
import type { Told } from './process.ts';
import { keysOf, LEASE_MS, RETRY_DELAY_MS } from './sale.ts';
import { type Demand, type Scope, skusOf } from './scopes.ts';
import type { Server } from './server.ts';
import { type Actor, nameOf, STOCK, type State } from './state.ts';

/** How long a lock may be free while somebody waits, in milliseconds: a waiter may spread its tries over half a delay more. */
const FREE_MS = 1.5 * RETRY_DELAY_MS;
/** How long after a crash somebody must be inside, in milliseconds. */
const TAKEOVER_MS = 2 * LEASE_MS;

/** Keys that outlive a sale: the stock, and the numbers that fence it. */
const stayingOf = (scope: Scope) =>
  skusOf(scope).flatMap((sku) => {
    const { lock, stock, fence } = keysOf(sku);
    return [stock, fence, `${lock}:tokens`];
  });

/** What a look at a state needs to know besides. */
export interface Known {
  leaseEndOf: (actor: Actor) => number;
  server: Server;
}

/**
 * The first demand that this state violates, as a sentence. `touches` says whose command has just changed the lock.
 * A process that its own code has ended is a violation whatever is demanded.
 */
export function violated(state: State, scope: Scope, known: Known, touches?: Touch): string | undefined {
  for (const [index, { history }] of state.actors.entries()) {
    if (history.seen.death !== undefined)
      return `${nameOf(index)} ends by an error that nobody catches: ${history.seen.death}`;
  }
  for (const demand of scope.demands) {
    const reason = demand === 'no deadlock' ? deadlock(state, scope, known) : look(state, demand, known, touches);
    if (reason) return reason;
  }
  return undefined;
}

function look(state: State, demand: Demand, { leaseEndOf }: Known, touches?: Touch): string | undefined {
  const { at, actors, crashedAt, freeSince } = state;
  switch (demand) {
    case 'alone':
      return together(actors, ({ isInside }) => isInside, '');
    case 'alone within leases': {
      const isWithin = (actor: Actor) => actor.isInside && leaseEndOf(actor) > at;
      return together(actors, isWithin, ', and the leases of both run');
    }
    case 'same stock': {
      const reader = actors.findIndex(({ history }) => history.seen.isReader && hasSeenAnother(history.seen.told));
      return reader < 0 ? undefined : `${nameOf(reader)} reads twice under the read lock, and sees another stock.`;
    }
    case 'untouched': {
      if (touches === undefined) return undefined;
      const { process, server } = touches;
      const other = actors.findIndex(
        (actor, index) => index !== process && actor.isInside && (actor.leaseEnds[server] ?? 0) > at,
      );
      if (other < 0) return undefined;
      return `${nameOf(process)} changes the lock of ${nameOf(other)}, which is inside and within its lease.`;
    }
    case 'no wait for a free lock': {
      if (at <= freeSince + FREE_MS || actors.some(({ isInside }) => isInside)) return undefined;
      const waiter = actors.findIndex((actor) => isAwake(actor) && waitsSince(actor, freeSince));
      return waiter < 0 ? undefined : `${nameOf(waiter)} waits, and the lock is free since ${freeSince} ms.`;
    }
    case 'soon after a crash': {
      if (at <= crashedAt + TAKEOVER_MS) return undefined;
      const isWaiting = actors.some((actor) => isAwake(actor) && waitsSince(actor, crashedAt));
      return isWaiting ? `Nobody has entered ${TAKEOVER_MS} ms after the crash.` : undefined;
    }
    case 're-entry': {
      const told = actors[0]?.history.seen.told ?? [];
      const entered = told.find(({ step }) => step === 'entered');
      const nested = told.find(({ step }) => step === 'nested');
      const isLate = entered && (nested?.at ?? at) >= entered.at + LEASE_MS && told.some(({ step }) => step === 'read');
      return isLate ? 'A waits for its own lock until its lease is over.' : undefined;
    }
    case 'all sell':
      return actors.flatMap(({ history }, index) =>
        history.seen.told.filter(({ step }) => step === 'failed').map(({ why }) => `${nameOf(index)} fails: ${why}`),
      )[0];
    default:
      return undefined;
  }
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
function deadlock({ at, servers, actors }: State, scope: Scope, { server }: Known): string | undefined {
  const there = actors.filter(({ status, history }) => status !== 'comes' && !history.seen.isOver);
  const isStill = ({ waitsSince, isInside, heads, inbox, replies }: Actor) =>
    waitsSince !== undefined && !isInside && heads.length + inbox.length + replies.length === 0;
  if (there.length < 2 || !there.every(isStill)) return undefined;
  const ends = server.ends(servers[0] as number);
  const isHeld = (sku: number) => (ends.get(keysOf(sku).lock) ?? 0) > at;
  if (!skusOf(scope).every(isHeld)) return undefined;
  const names = there.map((actor) => nameOf(actors.indexOf(actor)));
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)} wait for each other: every lock is held, and nobody is inside.`;
}

const isAwake = ({ status }: Actor) => status === 'runs';
const waitsSince = (actor: Actor, time: number) => actor.waitsSince !== undefined && actor.waitsSince <= time;

function together(actors: readonly Actor[], isMeant: (actor: Actor) => boolean, more: string) {
  const one = actors.findIndex(isMeant);
  const areReaders = (other: Actor) => other.history.seen.isReader && actors[one]?.history.seen.isReader;
  const other = actors.findIndex((actor, index) => index > one && isMeant(actor) && !areReaders(actor));
  return other < 0 ? undefined : `${nameOf(one)} and ${nameOf(other)} are inside at the same time${more}.`;
}

/** What an end violates: nothing comes after it. */
export function violatedAtEnd(state: State, scope: Scope, server: Server): string | undefined {
  const { at, servers, actors } = state;
  const { demands } = scope;
  const staying = stayingOf(scope);
  const stuck = actors.findIndex(({ status, history }) => status === 'runs' && !history.seen.isOver);
  if (stuck >= 0) return `${nameOf(stuck)} waits for ever.`;
  if (demands.includes('nothing left')) {
    const rest = [
      ...servers.flatMap((each) => server.whatIsLeft(each)).filter((name) => !staying.includes(name)),
      ...actors.flatMap(({ history }, index) =>
        history.seen.timers.map(({ due }) => `a timer of ${nameOf(index)} for ${due} ms`),
      ),
    ];
    if (rest.length > 0) return `All is over, and there is still ${rest.join(', ')}.`;
  }
  if (!demands.includes('no lost sale')) return undefined;
  for (const sku of skusOf(scope)) {
    const { stock } = keysOf(sku);
    const sold = actors.filter((_, index) => sellsOf(scope, index).includes(sku)).reduce(writesOf, 0);
    const left = Number(server.execute(servers[0] as number, at, 0, ['GET', stock]).reply);
    const what = sku === 1 ? '' : ` of ${stock}`;
    if (left > STOCK - sold)
      return `${sold} were sold of ${STOCK}, and ${left} are left${what}: ${left - (STOCK - sold)} lost.`;
  }
  return undefined;
}

/** The skus that each sale of a process takes. */
const sellsOf = ({ script }: Scope, process: number) => script?.(process).basket ?? [1];

const writesOf = (sum: number, { history }: Actor) =>
  sum + history.seen.told.filter(({ step }) => step === 'wrote').length;
