// The commands of a playing, each with its reply, its effect in Redis, and the steps that its sale took after the reply.

import type { LockKey, Message, PlayEvent, Returned, Step } from '../../simulation/events.ts';

/** An event of a scenario or of a game in the model checker. */
export type AnyEvent = PlayEvent<unknown, unknown>;
type Of<Kind extends AnyEvent['kind']> = Extract<AnyEvent, { kind: Kind }>;

/** A command that a sale has sent. */
export interface Trip {
  message: Message;
  returned?: Returned;
  /** What Redis held just after it, if it changed something, and its effect on the lease. */
  holds?: Pick<Of<'redis'>, 'stock' | 'lock'>;
  lease?: Of<'lease'>['is'] | undefined;
  /** What its sale did on receiving the reply. */
  steps: Step[];
}

const nameOf = ({ node, id }: Message) => `${node} ${id}`;

/** The trips by their `done` events, delayed trips by their `held` events, and the steps without a trip. */
export function tripsOf(events: AnyEvent[]) {
  const trips = new Map<string, Trip>();
  const byEvent = new Map<AnyEvent, Trip>();
  const isTaken = new Set<AnyEvent>();
  /** By sale: the trip with the latest reply, and its time. */
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

/** What a command meant to its sale, and its result. */
export type Act =
  | 'read'
  | 'write'
  | 'write-refused'
  /** Read and written in one step. */
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

/** What is known about a sale when Redis executes its command. */
export interface Asker {
  /** True once it has entered. */
  isInside: boolean;
  /** True once it has left and is releasing its lock. */
  hasLeft: boolean;
  /** The command that acquired its lock. */
  acquiredBy: string | undefined;
  hasRead: boolean;
}

/** A command with its arguments. */
export const sentAs = ({ verb, args = [] }: Message) => [verb, ...args].join(' ');

export const isNo = (returned: Returned | undefined) => returned === null || returned === 0 || returned === -1;
/** Redis commands that change nothing. */
const LOOKS = new Set(['GET', 'HGET', 'HGETALL', 'EXISTS', 'TTL', 'PTTL']);

/** Decides by the effects: the sale's next step, and the changes of the lease and the stock. The command's name is ignored. */
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
  const isLetIn = (did('entered') || did('began')) && !asker.isInside;
  if (lease === 'begun' || isLetIn) return 'acquire';
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
