// The stock as the store has it: asked for again when something has changed, and known from what the nodes wrote before that.

import { setTimeout as sleep } from 'node:timers/promises';
import { sharedClock } from '../../loadtest/harness/clock.ts';
import type { SaleEvent } from '../../loadtest/harness/lab-client.ts';

/** How often it is asked for at most, in milliseconds. */
const LOOK_MS = 200;
/** How long an answer may take, in milliseconds: another node may answer the next time. */
const ANSWER_LIMIT_MS = 1_000;

export interface WatchedStock {
  /** Something may have changed it: it is asked for soon. */
  changed(): void;
  /** A node has written it. Where it lies in several buckets nobody has written all of it, so that tells nothing. */
  wrote(event: SaleEvent): void;
  /** The units that were in stock when it was last seen, not what is left of it when it is deleted. */
  units(): number | undefined;
  /** No write tells it, so that it is as old as the last question: it lies in several buckets. */
  isAskedAlone(): boolean;
  /** It has been asked for since the last change. */
  isSettled(): boolean;
  close(): void;
}

/**
 * `read` resolves with the units in stock, undefined when there is no stock, and rejects when nobody can say. Calls `onChange` when
 * another number was seen.
 */
export function watchStock(read: () => Promise<number | undefined>, onChange: () => void): WatchedStock {
  let seen: { at: number; units: number } | undefined;
  let isDue = false;
  let isAsking = false;
  let timer: NodeJS.Timeout | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  let isAskedAlone = false;

  function take(at: number, units: number) {
    if (seen && seen.at > at) return;
    const hasChanged = seen?.units !== units;
    seen = { at, units };
    if (hasChanged) onChange();
  }

  function schedule() {
    isDue = true;
    if (isAsking || isClosed || timer !== undefined) return;
    timer = setTimeout(ask, Math.max(0, askedAt + LOOK_MS - sharedClock()));
  }

  async function ask() {
    timer = undefined;
    isDue = false;
    isAsking = true;
    const at = sharedClock();
    askedAt = at;
    const late = sleep(ANSWER_LIMIT_MS, undefined, { ref: false }).then(() => Promise.reject(new Error('No answer.')));
    const units = await Promise.race([read(), late]).catch(() => 'unknown' as const);
    isAsking = false;
    if (isClosed) return;
    if (typeof units === 'number') take(at, units);
    if (isDue || units === 'unknown') schedule();
  }

  return {
    changed: schedule,
    wrote({ at, stock, bucket }) {
      isAskedAlone = bucket !== undefined;
      if (stock !== undefined && bucket === undefined) take(at, stock);
    },
    units: () => seen?.units,
    isAskedAlone: () => isAskedAlone,
    isSettled: () => !isDue && !isAsking,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
