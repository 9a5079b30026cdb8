// Who holds the lock, and until when, according to its keys in the servers.

import { endOf, namesFor } from '../lock-keys.ts';
import { inBuckets, LOCK_KEY } from '../sale.ts';
import type { Server, ServerState } from '../server.ts';
import { type Actor, replaced, type State } from '../state.ts';
import { GIVEN_UP, type MovesOptions, NEVER, type Touch } from './move.ts';

export type Leases = ReturnType<typeof createLeases>;

export function createLeases(server: Server, { masters, isInBuckets = false, lock }: MovesOptions) {
  const quorum = Math.floor(masters / 2) + 1;
  /** The keys of the lock of each bucket; of one where the stock is in one key. */
  const locks = (isInBuckets ? inBuckets(LOCK_KEY) : [LOCK_KEY]).map((key) => namesFor(lock.held, key));
  /** What a server that only has the stock keeps of the lock. */
  const noLocks: typeof locks = [];

  /**
   * Until when its lease runs, in the bucket that is given or in any: with masters, until when a majority of them keep it, in
   * milliseconds.
   */
  function endFor({ leaseEnds }: Pick<Actor, 'leaseEnds'>, bucket?: number): number {
    if (masters === 0) return bucket === undefined ? Math.max(...leaseEnds) : (leaseEnds[bucket] ?? 0);
    return leaseEnds.slice(1).toSorted((one, other) => other - one)[quorum - 1] ?? 0;
  }

  /** The last millisecond in which the lock of each bucket is there, by the state of the server. */
  const known: number[][] = [];
  function endsOf(held: ServerState): number[] {
    const found = known[held];
    if (found !== undefined) return found;
    const ends = locks.map((keys) => endOf(keys, server.ends(held)));
    known[held] = ends;
    return ends;
  }

  /** Is the lock of these keys another one afterwards? */
  const changes = (before: ServerState, after: ServerState, keys: string[]) =>
    before !== after && keys.some((key) => server.entry(after, key) !== server.entry(before, key));

  return {
    /** The leases of a process that has none: one on each server, or in each bucket. */
    none: (masters > 0 ? Array.from({ length: masters + 1 }) : locks).map(() => 0),
    endFor,
    /** With these leases, or with those that it has: it may have the lock, and not be inside yet. */
    isHolder: ({ isInside, waitsSince, leaseEnds }: Actor, at: number, withLeases = leaseEnds) =>
      isInside || (waitsSince !== undefined && endFor({ leaseEnds: withLeases }) > at),
    /** The leases of a process after a command of it has reached a server, and the lock that it has changed. */
    afterCommand({ at, servers, ahead, actors }: State, process: number, number: number, after: ServerState) {
      const before = servers[number] as ServerState;
      const { isInside, leaseEnds: leaseEndsBefore } = actors[process] as Actor;
      let leaseEnds = leaseEndsBefore;
      let touches: Touch | undefined;
      for (const [bucket, keys] of (masters > 0 && number === 0 ? noLocks : locks).entries()) {
        const place = masters > 0 ? number : bucket;
        const endsAt = endsOf(after)[bucket] as number;
        // Who makes the lock live longer has the lease.
        if (endsAt > (endsOf(before)[bucket] as number))
          leaseEnds = replaced(leaseEnds, place, endsAt - (ahead[number] ?? 0));
        else if (endsAt < at && isInside && (leaseEnds[place] ?? 0) > at)
          leaseEnds = replaced(leaseEnds, place, GIVEN_UP);
        if (changes(before, after, keys)) touches = { process, place };
      }
      return { leaseEnds, touches };
    },
    /** Does this command of a process change a lock now? */
    changesLock({ at, servers }: State, process: number, command: (string | number)[]): boolean {
      const before = servers[0] as ServerState;
      const { after } = server.execute(before, at, process, command);
      return locks.some((keys) => changes(before, after, keys));
    },
    /** The last millisecond in which a lock is there; -1 when none is. */
    lastEnd: (held: ServerState) => Math.max(...endsOf(held)),
    /** Since when the lock is free, now that the last one is there until `endsAt`. */
    freeSince({ at, freeSince }: State, endsAt: number): number {
      if (endsAt >= at) return NEVER;
      return freeSince === NEVER ? at : freeSince;
    },
  };
}
