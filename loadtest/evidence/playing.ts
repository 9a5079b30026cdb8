// A playing, in the simulation or on real servers, as one list of typed events: the source of every picture, diagram and log.

import type { PlayEvent as Happening, LockKey } from '../../simulation/events.ts';
import type { Deed } from '../narration/faults.ts';
import type { StepSentence } from '../narration/steps.ts';

export type PlayEvent = Happening<StepSentence, Deed>;

/** How long after the last sale its release may still be seen, in milliseconds. */
const RELEASE_MS = 5;
/** Redis reports TTLs in whole milliseconds, and reading one takes time: two ends that differ by less are the same. */
const SAME_END_MS = 50;

/** The letter of a sale in the scenario, which its request has brought to the node. */
const letterIn = (requestId = '') => (isLetter(requestId) ? requestId : undefined);
export const isLetter = (sale: string) => /^[A-Z]\d*$/.test(sale);

/**
 * The same events, in which each sale has its letter in the place of its number, or a number that no other has, and a lock the sale that
 * its owner token names. `instances`: which node each process is, by what its tokens begin with. `tokens`: what those that are not ours stand for.
 */
export function withLetters(
  events: PlayEvent[],
  instances: ReadonlyMap<string, string>,
  tokens: ReadonlyMap<string, string | undefined> = new Map(),
): PlayEvent[] {
  /** By the names of their nodes and their numbers there. A process that is started again counts from 1. */
  const letters = new Map<string, string>();
  let unnamed = 0;
  const named = (node: string, sale: string) => letters.get(`${node} ${sale}`) ?? sale;
  /** Whose each token is, as it was when Redis first held it: that process may be dead by now. */
  const owners = new Map<string, string>();
  function ownerOf(token: string) {
    const [instance = '', sale = ''] = (tokens.get(token) ?? token).split(':');
    const node = instances.get(instance);
    if (node !== undefined && !owners.has(token)) owners.set(token, named(node, sale));
    return owners.get(token);
  }
  return events.map((event) => {
    if (event.kind === 'node' && event.is === 'started again')
      for (const name of [...letters.keys()]) if (name.startsWith(`${event.node} `)) letters.delete(name);
    if (event.kind === 'sale' && event.step === 'waiting') {
      const letter = letterIn(event.requestId);
      if (letter === undefined) unnamed += 1;
      letters.set(`${event.node} ${event.sale}`, letter ?? String(unnamed));
    }
    if (event.kind === 'redis' && event.lock) {
      const owner = ownerOf(event.lock.value);
      return owner === undefined ? event : { ...event, lock: { ...event.lock, owner } };
    }
    if (!('sale' in event) || event.sale === undefined || event.node === undefined) return event;
    const sale = named(event.node, event.sale);
    if (!('args' in event)) return { ...event, sale };
    // An answer that is an owner token is the sale that it names, too.
    const isDone = event.kind === 'done' && typeof event.returned === 'string';
    const returned = isDone ? { returned: ownerOf(event.returned as string) ?? event.returned } : {};
    return { ...event, sale, args: event.args?.map((arg) => ownerOf(arg) ?? arg), ...returned };
  });
}

/** The same events, with events for leases that start, are renewed, released or expire, as seen in the keys of Redis. */
export function withLeases(events: PlayEvent[]): PlayEvent[] {
  const all: PlayEvent[] = [];
  let held: LockKey | undefined;
  const until = (at: number) => {
    const { endsAt = Number.POSITIVE_INFINITY, owner } = held ?? {};
    if (endsAt > at) return;
    all.push({ at: endsAt, kind: 'lease', is: 'ended', owner });
    held = undefined;
  };
  for (const event of events) {
    until(event.at);
    all.push(event);
    if (event.kind !== 'redis') continue;
    const { at, lock } = event;
    const isSame = lock !== undefined && lock.value === held?.value;
    const isLater = (lock?.endsAt ?? 0) - (held?.endsAt ?? 0) >= SAME_END_MS;
    if (held && !isSame) all.push({ at, kind: 'lease', is: 'freed', owner: held.owner });
    if (lock && (!isSame || isLater)) {
      const { owner, endsAt } = lock;
      all.push({ at, kind: 'lease', is: isSame ? 'renewed' : 'begun', owner, ...(endsAt !== undefined && { endsAt }) });
    }
    held = lock;
  }
  return all;
}

/** The events from the first sentence or sale to the last, and the release after it. What Redis held before comes first. */
export function fromFirstToLast(events: PlayEvent[]): PlayEvent[] {
  const isOfShop = ({ kind }: PlayEvent) => kind === 'sentence' || kind === 'sale';
  const first = events.find(isOfShop);
  const last = events.findLast(isOfShop);
  if (first === undefined || last === undefined) return [];
  const redis = events.filter((event) => event.kind === 'redis');
  const isHeld = redis.findLast(({ at }) => at <= last.at)?.lock !== undefined;
  const release = redis.find(({ at }) => isHeld && at > last.at && at < last.at + RELEASE_MS);
  const before = redis.findLast(({ at }) => at < first.at);
  const shown = events.filter(({ at }) => at >= first.at && at <= (release ?? last).at);
  return before ? [{ ...before, at: first.at }, ...shown] : shown;
}
