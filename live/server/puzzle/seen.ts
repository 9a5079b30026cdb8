// A state of the search as it is shown: what each process does, and what Redis holds.

import type { Told } from '../../../prove/process.ts';
import { LEASE_MS, LOCK_KEY, STOCK_KEY } from '../../../prove/sale.ts';
import type { Server } from '../../../prove/server.ts';
import { type Actor, nameOf, STOCK, type State } from '../../../prove/state.ts';
import { readable } from '../../../prove/words.ts';
import type { Reply } from '../../../virtual/valkey.ts';
import type { Deed, ProcessView, RedisView } from '../../puzzle-contract.ts';

/** What each process does; `holder` is the number of the one that took the lock. */
export function seeProcesses({ at, actors }: State, holder: number | undefined): ProcessView[] {
  return actors.map((actor, index) => {
    const { status, heads, nextTimer, history } = actor;
    const [head] = status === 'crashed' ? [] : heads;
    const hasTimer = Number.isFinite(nextTimer) && status !== 'crashed';
    return {
      name: nameOf(index),
      is: whatIs(actor),
      away: status === 'is paused' ? 'paused' : status === 'is late' ? 'held up' : null,
      hasLock: index === holder,
      did: history.seen.told.map(deedOf),
      onItsWay: head ? readable(head.command) : null,
      timerInMs: hasTimer ? Math.max(0, nextTimer - at) : null,
    };
  });
}

/** What a process has said that it did. */
export function deedOf({ step, stock, why }: Told): Deed {
  return { step, ...(stock !== undefined && { stock }), ...(why !== undefined && { why }) };
}

function whatIs({ status, isInside, waitsSince, history }: Actor): ProcessView['is'] {
  if (status === 'comes') return 'to come';
  if (status === 'crashed') return 'killed';
  if (isInside) return 'inside';
  if (history.seen.isOver) return 'over';
  return waitsSince === undefined ? 'leaving' : 'waiting';
}

/** What Redis holds; `holder` is the number of the process that took the lock. */
export function seeRedis({ at, servers, actors }: State, holder: number | undefined, server: Server): RedisView {
  const state = servers[0] as number;
  const ask = (...command: string[]) => server.execute(state, at, 0, command).reply;
  const there = [...server.ends(state)].filter(([, end]) => end >= at);
  const lock = there.find(([key]) => key === LOCK_KEY);
  const sold = actors.flatMap(({ history }) => history.seen.told.filter(({ step }) => step === 'wrote')).length;
  return {
    lock: lock
      ? {
          holder: holder === undefined ? null : nameOf(holder),
          value: readValue(LOCK_KEY, ask),
          leftMs: Number.isFinite(lock[1]) ? lock[1] - at : null,
        }
      : null,
    leaseMs: LEASE_MS,
    stock: Number(ask('GET', STOCK_KEY)),
    expected: STOCK - sold,
    others: there
      .filter(([key]) => key !== LOCK_KEY && key !== STOCK_KEY)
      .map(([key]) => ({ key, value: readValue(key, ask) })),
  };
}

type Ask = (...command: string[]) => Reply;

/** A text as it is; of a hash its fields with their values. */
function readValue(key: string, ask: Ask): string {
  if (ask('TYPE', key) !== 'hash') return String(ask('GET', key));
  const parts = ask('HGETALL', key) as string[];
  return parts.flatMap((field, at) => (at % 2 === 0 ? [`${field} = ${parts[at + 1]}`] : [])).join(', ');
}

/** Who has the lock after a command of a process: who makes the key live longer, unless its value names another. */
export function holderAfter(before: State, after: State, holder: number | undefined, sender: number, server: Server) {
  const endOf = ({ servers }: State) => server.ends(servers[0] as number).get(LOCK_KEY) ?? Number.NEGATIVE_INFINITY;
  const { at, servers } = after;
  if (endOf(after) < at) return undefined;
  const ask: Ask = (...command) => server.execute(servers[0] as number, at, 0, command).reply;
  const named = after.actors.findIndex((_, index) => readValue(LOCK_KEY, ask).startsWith(`${nameOf(index)}:`));
  if (named >= 0) return named;
  return sender >= 0 && endOf(after) > Math.max(endOf(before), at - 1) ? sender : holder;
}
