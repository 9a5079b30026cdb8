// A holder: acquires the lock in a process, holds it, and releases it.

import { getEventListeners, setMaxListeners } from 'node:events';
import type { CreateLock, Lock } from '../../locks/lock.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { type End, Fault, STEP_LIMIT_MS, type Story, saidOf } from './outcome.ts';

/** How long a holder tries before it counts as kept out, in milliseconds, and a factor for locks that are slow to enter. */
const PROBE_MS = 150;
const SLOW_ENTRIES = 3;
const RETRY_DELAY_MS = 20;

export type Holder = ReturnType<typeof createHolder>;

/** State that the holders of a staging share. */
export interface HolderPlace {
  story: Story;
  /** How long it took to enter a free lock so far, in milliseconds. */
  pace: { entryMs: number };
  /** When the lease of each holder inside ends unless it is renewed, in milliseconds, by owner token. */
  leaseEnds: Map<string, number>;
  /** Whether the lock renews. Undefined before that is known. */
  renews?: boolean | undefined;
  createLock: CreateLock;
  /** The clients of the process. */
  clients: object;
  /** Something comes to the process: it happens when that can take it. */
  take(what: () => void): void;
}

/** `once`: with a signal that is aborted from the start. `looks away`: without checking `lost` after it entered. */
type HowItAsks = 'waits' | 'once' | 'looks away';

/** The calls of a holder in its process. Each settles as the call does, and never when the process is dead. */
function createCalls({ createLock, clients, take, story }: HolderPlace, options: HolderOptions) {
  let lock: Lock | undefined;
  let patience = new AbortController();
  const signals: AbortSignal[] = [];
  const losses: number[] = [];
  let lostAt: number | undefined;
  let takesOnLeaseLost = false;
  let tell = () => {};
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const lose = () => {
    lostAt ??= story.now();
  };
  function call(act: () => Promise<unknown>): Promise<void> {
    const called = new Promise<void>((resolve, reject) => take(() => void act().then(() => resolve(), reject)));
    called.catch(() => {});
    return called;
  }
  const made = call(async () => {
    const onLeaseLost = () => {
      losses.push(story.now());
      tell();
    };
    const timing = { renewEveryMs: options.leaseMs / 3, retryDelayMs: RETRY_DELAY_MS };
    const given = { ...clients, ...timing, ...options, onLeaseLost };
    const onTake = (name: string | symbol) => {
      takesOnLeaseLost ||= name === 'onLeaseLost';
    };
    lock = createLock(noteTaken(given, onTake) as never);
  });
  const own = async () => {
    await made;
    return lock as Lock;
  };

  return {
    acquire(how: HowItAsks) {
      patience = new AbortController();
      const signal = how === 'once' ? AbortSignal.abort() : patience.signal;
      setMaxListeners(0, signal);
      signals.push(signal);
      return call(async () => {
        const { acquire } = await own();
        await acquire.call(lock, signal);
        if (how === 'looks away') return;
        const { lost } = await own();
        if (lost?.aborted) lose();
        else lost?.addEventListener('abort', lose, { once: true });
      });
    },
    abort: () => take(() => patience.abort(new Error('The client has disconnected.'))),
    release: () => call(async () => (await own()).release()),
    lock: () => lock,
    look: () => call(async () => void (await own()).lost?.aborted),
    losses,
    told,
    takesOnLeaseLost: () => takesOnLeaseLost,
    lostAt: () => lostAt,
    listeners: () => signals.reduce((sum, signal) => sum + getEventListeners(signal, 'abort').length, 0),
  };
}

/** The same options. Calls `onTake` with the name of each option that is read by name; a copy of all options does not count. */
function noteTaken<T extends object>(options: T, onTake: (name: string | symbol) => void): T {
  let copied: string | symbol | undefined;
  return new Proxy(options, {
    // A copy asks whether there is such an option, then reads it.
    getOwnPropertyDescriptor(target, name) {
      copied = name;
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
    get(target, name) {
      if (name !== copied) onTake(name);
      copied = undefined;
      return Reflect.get(target, name);
    },
  });
}

export interface HolderOptions {
  key: string;
  ownerToken: string;
  leaseMs: number;
  permits: number;
  /** How long a waiter waits between two tries, in milliseconds. */
  retryDelayMs?: number;
}

export function createHolder(place: HolderPlace, name: string, options: HolderOptions) {
  const { story, pace, leaseEnds } = place;
  const { say, endOf } = story;
  const calls = createCalls(place, options);
  const acquire = (how: HowItAsks = 'waits') => calls.acquire(how);

  const hasEntered = () => leaseEnds.set(options.ownerToken, story.now() + options.leaseMs);

  /** Releases, and says how that ended. */
  async function leaves(): Promise<End> {
    leaseEnds.delete(options.ownerToken);
    const end = await endOf(calls.release(), STEP_LIMIT_MS);
    say(`${name} releases${end.how === 'done' ? '' : `: release() ${saidOf(end)}`}`);
    return end;
  }

  /** True when it asks for the lock for a while and is kept out; if it got in it has given the lock back. */
  async function isKeptOut(forMs = PROBE_MS): Promise<boolean> {
    const asked = acquire();
    const end = await endOf(asked, forMs + SLOW_ENTRIES * pace.entryMs);
    if (end.how !== 'done') {
      calls.abort();
      // Who has entered meanwhile was late, and is let out again.
      void asked.then(calls.release).catch(() => {});
    } else await endOf(calls.release(), STEP_LIMIT_MS);
    say(end.how === 'done' ? `${name} enters` : `${name} tries, and is kept out`);
    return end.how !== 'done';
  }

  return {
    name,
    ownerToken: options.ownerToken,
    acquire,
    /** Its client goes. */
    abort: calls.abort,
    release: calls.release,
    /** Enters, and says so. Rejects with NotStagedError when it does not. */
    async enters(limitMs = STEP_LIMIT_MS, how: HowItAsks = 'waits') {
      const end = await endOf(acquire(how), limitMs);
      if (end.how !== 'done') throw new NotStagedError(`${name} did not enter: acquire() ${saidOf(end)}.`);
      pace.entryMs = Math.max(pace.entryMs, end.ms);
      hasEntered();
      say(`${name} enters`);
    },
    leaves,
    isKeptOut,
    /** Is inside within so many milliseconds. Rejects with a Fault when it is not: `when` it asked. */
    async mustEnter(when: string, limitMs = STEP_LIMIT_MS, asked: Promise<void> = acquire()): Promise<void> {
      const end = await story.ends(`acquire() of ${name}`, asked, limitMs);
      if (end.how !== 'done') throw new Fault(`${when} acquire() of ${name} ${saidOf(end)}.`);
      hasEntered();
    },
    /** Releases. Rejects with a Fault when that fails: `when` it released. */
    async mustLeave(when: string): Promise<void> {
      const end = await leaves();
      if (end.how !== 'done') throw new Fault(`${when} release() of ${name} ${saidOf(end)}.`);
    },
    /** Asks for a while. Rejects with this Fault when it gets in, and with NotStagedError when by then every lease was over anyhow. */
    async mustStayOut(fault: string): Promise<void> {
      if (await isKeptOut()) return;
      if (place.renews === false && leaseEnds.size > 0 && Math.max(...leaseEnds.values()) < story.now())
        throw new NotStagedError(
          `${name} entered when the lease of the holder was over, which the lock does not renew.`,
        );
      throw new Fault(fault);
    },
    hasLost: () => calls.lock()?.lost !== undefined,
    isLost: () => calls.lock()?.lost?.aborted === true,
    /** Looks at `lost`, as a sale does before it writes. */
    look: calls.look,
    lostAt: calls.lostAt,
    /** When it called `onLeaseLost`. */
    losses: calls.losses,
    /** Resolves when it has called `onLeaseLost` for the first time. */
    told: calls.told,
    /** It has read `onLeaseLost` from its options, by this name. */
    takesOnLeaseLost: calls.takesOnLeaseLost,
    token(): bigint | undefined {
      const token = calls.lock()?.fencingToken;
      return token === undefined ? undefined : BigInt(token);
    },
    /** Listeners that are left on the signals of its acquisitions. */
    listeners: calls.listeners,
  };
}
