// What Redis held in a run on real servers: from replies after the nodes' commands, and from occasional looks.

import type { PlayEvent } from '../../loadtest/evidence/playing.ts';
import type { Fault, LeaseSample } from '../../loadtest/evidence/timeline.ts';
import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { isNo } from '../picture/trips.ts';
import type { Seen } from './commands-seen.ts';

/** During a command, and this soon after it, an occasional look at Redis may predate the command, in milliseconds. */
const LOOK_MS = 50;
/** Redis reports an expiry to within a few milliseconds: a larger change means that it was reset. */
const SAME_END_MS = 50;

type OfRedis = Extract<PlayEvent, { kind: 'redis' }>;
type Lock = NonNullable<OfRedis['lock']>;

interface HeldParts {
  /** The start of the run, and the stock at that time. */
  from: number;
  stock: number;
  steps: SaleEvent[];
  samples: readonly LeaseSample[];
  /** The commands, in order. */
  done: Seen[];
  faults: readonly Fault[];
  last: { at: number; stock?: number | undefined };
}

/** Each change of the stock, starting with the initial one. */
export function heldBy({ from, stock, steps, samples, done, faults, last }: HeldParts): OfRedis[] {
  // Where the stock lies in buckets, nobody says how much there is in all until it is over.
  const isInBuckets = steps.some(({ bucket }) => bucket !== undefined);
  const looks = done.flatMap((by) => (by.after && by.answer ? [{ ...by.after, at: by.answer.doneAt, by }] : []));
  // Where Redis was not asked behind the commands, the sales tell what they have written.
  const wrote = looks.length > 0 ? [] : steps.filter(({ type }) => type === 'wrote');
  const busy = [...wrote.map(({ at }) => ({ from: at, at })), ...looks.map(({ at, by }) => ({ from: by.cameAt, at }))];
  const isFresh = ({ at }: LeaseSample) => !busy.some((other) => other.from <= at && at < other.at + LOOK_MS);
  const all: OfRedis[] = [{ kind: 'redis', at: from, stock }];
  let takenAt = from;

  function add(at: number, now: { stock?: number | undefined; lock?: Lock | undefined }, by?: Seen) {
    const before = all.at(-1) as OfRedis;
    const units = isInBuckets || !Number.isFinite(now.stock) ? before.stock : (now.stock as number);
    const isAnother = isTakenAnew(before.lock, now.lock, by);
    if (before.lock && isAnother && hasEnded(before.lock, now.lock, at, by)) before.lock.endsAt = at;
    const isSame = before.lock && now.lock && !isAnother && before.lock.count === now.lock.count;
    const isSameEnd = Math.abs((before.lock?.endsAt ?? 0) - (now.lock?.endsAt ?? 0)) < SAME_END_MS;
    if (isSame && isSameEnd && before.lock && now.lock?.endsAt !== undefined)
      before.lock.endsAt = Math.min(before.lock.endsAt ?? Number.POSITIVE_INFINITY, now.lock.endsAt);
    const lock = isSame && isSameEnd ? before.lock : now.lock && { ...now.lock };
    if (isAnother) takenAt = at;
    if (lock !== before.lock || units !== before.stock)
      all.push({ kind: 'redis', at, stock: units, ...(lock && { lock }) });
  }

  /** The lock is gone although nobody released it: its lease expired, or the drill ended it. */
  function hasEnded({ endsAt = Number.POSITIVE_INFINITY }: Lock, now: Lock | undefined, at: number, by?: Seen) {
    if (now !== undefined) return true;
    const returned = by?.message.about === 'lock' ? by.answer?.returned : null;
    // A release may return 0 when nothing is held any more, and when nothing was.
    if (!isNo(returned)) return false;
    const isStaged = faults.some(({ what, from }) => what.form === 'lease ends' && from >= takenAt && from <= at);
    return isStaged || endsAt - at < SAME_END_MS;
  }

  const seen = [
    ...looks.map(({ at, by, ...now }) => ({ at, put: () => add(at, now, by) })),
    ...wrote.map(({ at, stock }) => ({ at, put: () => add(at, { stock, lock: all.at(-1)?.lock }) })),
    ...samples
      .filter(isFresh)
      .map((sample) => ({ at: sample.at, put: () => add(sample.at, contentIn(sample, all.at(-1)?.lock)) })),
    { at: last.at, put: () => add(last.at, { stock: last.stock, lock: all.at(-1)?.lock }) },
  ];
  for (const { put } of seen.toSorted((one, other) => one.at - other.at)) put();
  return all;
}

/** The key was created again, even if its value is the same. */
function isTakenAnew(before: Lock | undefined, now: Lock | undefined, by: Seen | undefined) {
  if (before?.value !== now?.value) return true;
  return by?.command.name === 'SET' && by.message.about === 'lock' && by.answer?.returned === 'OK';
}

/** For a value that is not a string, a look says less than the reply after a command. */
function contentIn({ at, owner, ttlMs, stock }: LeaseSample, before: Lock | undefined) {
  if (owner === undefined) return { stock };
  const { endsAt: _, ...known } = before ?? { value: owner };
  const isText = before?.count === undefined && !/^(zset|set|list|stream)$/.test(known.value);
  const lock: Lock = { ...(isText ? { value: owner } : known), ...(Number.isFinite(ttlMs) && { endsAt: at + ttlMs }) };
  return { stock, lock };
}
