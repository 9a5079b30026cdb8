// The timers of a process: each waits until the simulation fires it.

import type { Moment } from './moment.ts';

export interface Timer {
  id: number;
  /** When it may fire, in milliseconds. */
  due: number;
}

/** A timer as code has it. It keeps no process alive, and fires for as long as something else does. */
class Timeout {
  readonly id: number;
  constructor(id: number) {
    this.id = id;
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  hasRef() {
    return true;
  }
  [Symbol.toPrimitive]() {
    return this.id;
  }
}

// A timer of Node never waits for less than a millisecond.
const wholeMs = (ms: unknown) => Math.max(1, Math.trunc(Number(ms)) || 1);

interface Abortable {
  signal?: AbortSignal;
}

/** As Node does: who waits is told why. */
const abortError = (signal?: AbortSignal) =>
  Object.assign(new Error('The operation was aborted', { cause: signal?.reason }), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  });

export type Timers = ReturnType<typeof createTimers>;

export function createTimers(moment: Moment) {
  const timers = new Map<number, { due: number; everyMs?: number; fire: () => void; sale: string | undefined }>();

  function add(fire: () => void, waitMs: number, isRepeated = false) {
    const id = moment.nextId();
    timers.set(id, { due: moment.now + waitMs, fire, sale: moment.sale, ...(isRepeated && { everyMs: waitMs }) });
    return new Timeout(id);
  }
  const starting =
    (isRepeated: boolean) =>
    (fire: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
      add(() => fire(...args), wholeMs(ms), isRepeated);
  const clear = (timer?: { id: number } | number) =>
    void (timer !== undefined && timers.delete(typeof timer === 'number' ? timer : timer?.id));

  const setInterval = starting(true);

  /** `setInterval` of timers/promises. Who comes late is given at once what is due. */
  async function* every(ms: number, value?: unknown, { signal }: Abortable = {}) {
    let due = 0;
    let wake = () => {};
    const timer = setInterval(() => {
      due += 1;
      wake();
    }, ms);
    const end = () => {
      clear(timer);
      wake();
    };
    signal?.addEventListener('abort', end);
    try {
      while (!signal?.aborted) {
        if (due === 0) await new Promise<void>((resolve) => (wake = resolve));
        for (; due > 0; due -= 1) yield value;
      }
      throw abortError(signal);
    } finally {
      clear(timer);
      signal?.removeEventListener('abort', end);
    }
  }

  return {
    setTimeout: starting(false),
    setInterval,
    every,
    setImmediate: (fire: (...args: unknown[]) => void, ...args: unknown[]) => add(() => fire(...args), 0),
    clear,
    sleep(ms: number, value?: unknown, { signal }: Abortable = {}): Promise<unknown> {
      return new Promise((resolve, reject) => {
        const abort = () => {
          clear(timer);
          reject(abortError(signal));
        };
        const timer = add(() => {
          signal?.removeEventListener('abort', abort);
          resolve(value);
        }, wholeMs(ms));
        if (signal?.aborted) abort();
        else signal?.addEventListener('abort', abort, { once: true });
      });
    },
    all: (): Timer[] => [...timers].map(([id, { due }]) => ({ id, due })),
    /** The timer that is due first; of equal times the one that was started first. */
    next(): Timer | undefined {
      let first: Timer | undefined;
      for (const [id, { due }] of timers) if (first === undefined || due < first.due) first = { id, due };
      return first;
    },
    fire(id: number) {
      const timer = timers.get(id);
      if (timer === undefined) return;
      if (timer.everyMs === undefined) timers.delete(id);
      else timer.due = moment.now + timer.everyMs;
      moment.sale = timer.sale;
      timer.fire();
    },
  };
}
