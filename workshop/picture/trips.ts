// The commands of a playing, each with its answer, what it did in Redis, and the steps that its sale took when it had the answer.

import type { LockKey, Message, PlayEvent, Returned, Step } from '../../simulation/events.ts';

/** An event of a scenario or of a game of the search, whatever its sentences are. */
export type AnyEvent = PlayEvent<unknown, unknown>;
type Of<Kind extends AnyEvent['kind']> = Extract<AnyEvent, { kind: Kind }>;

/** A command that a sale has sent. */
export interface Trip {
  message: Message;
  returned?: Returned;
  /** What Redis held just after it, where it has changed something; and what it did to the lease. */
  holds?: Pick<Of<'redis'>, 'stock' | 'lock'>;
  lease?: Of<'lease'>['is'] | undefined;
  /** What its sale did as soon as it had the answer. */
  steps: Step[];
}

const nameOf = ({ node, id }: Message) => `${node} ${id}`;

/** The trips by their `done` events, and those that were held on their way by their `held` events; and the steps that no trip has. */
export function tripsOf(events: AnyEvent[]) {
  const trips = new Map<string, Trip>();
  const byEvent = new Map<AnyEvent, Trip>();
  const isTaken = new Set<AnyEvent>();
  /** By the names of the sales: the trip whose answer has come last, and when. */
  const heard = new Map<string, { trip: Trip; at: number }>();
  let changes: { at?: number; holds?: Of<'redis'>; lease?: Trip['lease'] } = {};
  for (const event of events) {
    if (event.kind === 'command') trips.set(nameOf(event), { message: event, steps: [] });
    else if (event.kind === 'held') byEvent.set(event, trips.get(nameOf(event)) ?? { message: event, steps: [] });
    else if (event.kind === 'redis') changes = { at: event.at, holds: event };
    else if (event.kind === 'lease' && changes.at === event.at) {
      // Of a lock that changes hands in one command, the beginning counts.
      if (changes.lease !== 'begun') changes.lease = event.is;
    } else if (event.kind === 'done') {
      const trip = trips.get(nameOf(event)) ?? { message: event, steps: [] };
      const { holds, lease } = changes.at === event.at ? changes : {};
      Object.assign(trip, { returned: event.returned, ...(holds && { holds }), ...(lease && { lease }) });
      trips.set(nameOf(event), trip);
      byEvent.set(event, trip);
      if (holds) isTaken.add(holds);
      changes = {};
    } else if (event.kind === 'reply') {
      const trip = trips.get(nameOf(event));
      if (trip?.message.sale !== undefined) heard.set(trip.message.sale, { trip, at: event.at });
    } else if (event.kind === 'sale') {
      const { trip, at } = heard.get(event.sale) ?? {};
      if (event.step === 'waiting' || event.step === 'nested' || at !== event.at) continue;
      trip?.steps.push(event);
      isTaken.add(event);
    }
  }
  return { tripOf: (event: AnyEvent) => byEvent.get(event), isTaken: (event: AnyEvent) => isTaken.has(event) };
}

/** What a command meant for its sale, and what came of it. */
export type Act =
  | 'read'
  | 'write'
  | 'write-refused'
  /** Read and written in one. */
  | 'sell'
  | 'acquire'
  | 'acquire-again'
  | 'denied'
  | 'look'
  | 'release'
  | 'release-once'
  | 'release-refused'
  | 'renew'
  | 'renew-refused'
  | 'other';

/** What is known of a sale when Redis carries out its command. */
export interface Asker {
  /** It has been let in. */
  isInside: boolean;
  /** It has left, and gives its lock back. */
  hasLeft: boolean;
  /** The command that has got it its lock. */
  acquiredBy: string | undefined;
  hasRead: boolean;
}

/** A command with all that it was sent with. */
export const sentAs = ({ verb, args = [] }: Message) => [verb, ...args].join(' ');

export const isNo = (returned: Returned | undefined) => returned === null || returned === 0 || returned === -1;
/** Commands of Redis that change nothing. */
const LOOKS = new Set(['GET', 'HGET', 'HGETALL', 'EXISTS', 'TTL', 'PTTL']);

/** Goes by what happened: what the sale did next, and what became of the lease and the stock. What a command is called says nothing. */
export function actOf({ message, returned, holds, lease, steps }: Trip, asker: Asker, before: Held): Act {
  const did = (step: Step['step']) => steps.some((each) => each.step === step);
  if (message.about === 'stock') {
    if (did('wrote')) return did('read') && !asker.hasRead ? 'sell' : 'write';
    if (did('read')) return 'read';
    if (did('conflict')) return 'write-refused';
    if (holds && holds.stock !== before.stock) return 'write';
    if (!asker.hasRead || LOOKS.has(message.name)) return 'read';
    return isNo(returned) ? 'write-refused' : 'write';
  }
  if (message.about !== 'lock') return 'other';
  const counts = (holds?.lock?.count ?? 0) - (before.lock?.count ?? 0);
  const isOwn = holds?.lock !== undefined && holds.lock.value === before.lock?.value;
  if (lease === 'begun' || (did('entered') && !asker.isInside)) return 'acquire';
  if (lease === 'freed') return 'release';
  if (isOwn && counts > 0) return 'acquire-again';
  if (isOwn && counts < 0) return 'release-once';
  if (LOOKS.has(message.name) && asker.isInside) return 'look';
  // Who is inside and sends the same as then asks for its own lock.
  const isAcquire = !asker.isInside || (!asker.hasLeft && sentAs(message) === asker.acquiredBy);
  if (isAcquire) return isNo(returned) ? 'denied' : 'other';
  if (asker.hasLeft) return isNo(returned) ? 'release-refused' : 'other';
  return lease === 'renewed' || !isNo(returned) ? 'renew' : 'renew-refused';
}

/** What Redis holds. */
export interface Held {
  stock: number;
  lock?: LockKey | undefined;
}
