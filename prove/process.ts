// A process of the model checker: it sells under the lock, and is a function of its history.

import { reasonOf } from '../simulation/places.ts';
import { type Reply, ReplyError } from '../simulation/valkey.ts';
import type { Pending } from '../simulation/world/commands.ts';
import type { Timer } from '../simulation/world/timers.ts';
import { createWorld, type Input } from '../simulation/world.ts';
import { type SaleScript, type SaleStep, sellAll } from './sale.ts';
import type { OpenLock } from './sandbox.ts';

/** What a process reported about its sales. */
export interface Told {
  at: number;
  step: SaleStep;
  /** Which of its sales, from 1. */
  sale: number;
  stock?: number;
  /** Which bucket of the stock, where it lies in several. */
  bucket?: number;
  /** Why it failed. */
  why?: string;
  /** The stock took its token for an old one. */
  isStale?: true;
  /** Its client had hung up before, while it waited. */
  isUnwanted?: true;
}

/** A process as the model checker sees it. */
export interface Seen {
  pending: Pending[];
  timers: Timer[];
  told: Told[];
  /** The buckets that its sales are inside of; 0 for a stock in one key. */
  insideOf: number[];
  /** It only looks at the stock. */
  isReader: boolean;
  /** Since when the first of its sales that wait has waited, in milliseconds; `undefined` when none waits. */
  waitsSince: number | undefined;
  /** Every sale has ended; a timer may be left. */
  isOver: boolean;
  /** Those of its sales that have begun and not ended, from 1. */
  open: number[];
  /** The line that its lock is at, if its code says so. */
  line: number | undefined;
  /** What it used that the search does not control. */
  refusal: string | undefined;
  /** Why its own code has ended it: an error that nobody caught. */
  death: string | undefined;
  /** What happened last would have come out differently with other luck. */
  hasUsedChance: boolean;
}

/** What all processes of a search have in common. */
export interface ProcessOptions {
  openLock: OpenLock;
  /** How many servers there are; those after the first are masters that vote. */
  servers: number;
  /** How many sales it makes, one after the other. */
  sales: number;
  script: SaleScript;
}

/** A process after some history. */
export interface History {
  /** A number of its own. */
  id: number;
  seen: Seen;
  /** What happens next: the same history for the same input. */
  after(input: Input): Promise<History>;
}

/** A process that runs. */
export interface Live {
  seen(): Seen;
  apply(input: Input): Promise<void>;
}

/**
 * So many processes are kept alive at the end of their history; the others are run again when they are needed. A search that goes breadth
 * first comes back to each after a whole layer, so fewer than a layer has would be as good as none.
 */
const KEPT_ALIVE = 16_000;

/** Opens processes of which each is a function of its history. */
export function createHistories() {
  let lastId = 0;
  /** Those that run, the oldest first. */
  const alive = new Set<Kept>();

  /** A process of this name to which nothing has happened yet. */
  function openHistory(name: string, options: ProcessOptions): History {
    const begin = () => startProcess(name, options);
    return createHistory(begin, undefined, begin());
  }

  function createHistory(begin: () => Live, past: Past | undefined, live: Live): History {
    lastId += 1;
    const seen = live.seen();
    /** It runs until somebody takes it further. */
    const kept: Kept = { live };
    let next: Map<string, Promise<History>> | undefined;
    keep(kept, seen);

    async function take(): Promise<Live> {
      const mine = kept.live;
      kept.live = undefined;
      alive.delete(kept);
      if (mine) return mine;
      const again = begin();
      for (const input of inputsOf(past)) await again.apply(input);
      return again;
    }

    async function takeFurther(input: Input) {
      const live = await take();
      await live.apply(input);
      return createHistory(begin, { before: past, input }, live);
    }

    return {
      id: lastId,
      seen,
      after(input) {
        const name = nameOf(input);
        next ??= new Map();
        const found = next.get(name) ?? takeFurther(input);
        next.set(name, found);
        return found;
      },
    };
  }

  /** One that waits for nothing is not taken further, as a rule. */
  function keep(kept: Kept, { isOver, pending, timers }: Seen) {
    if (isOver && pending.length + timers.length === 0) {
      kept.live = undefined;
      return;
    }
    alive.add(kept);
    for (const oldest of alive.size > KEPT_ALIVE ? alive : []) {
      oldest.live = undefined;
      alive.delete(oldest);
      break;
    }
  }

  return {
    openHistory,
    /** Ends all that run: memory is short. */
    endAll() {
      for (const kept of alive) kept.live = undefined;
      alive.clear();
    },
  };
}

/** A process at the end of its history, as long as it runs. */
interface Kept {
  live: Live | undefined;
}

/** What has happened to a process, the latest first. */
interface Past {
  before: Past | undefined;
  input: Input;
}

function inputsOf(past: Past | undefined): Input[] {
  const inputs: Input[] = [];
  for (let at = past; at; at = at.before) inputs.push(at.input);
  return inputs.reverse();
}

/** A reply as a text: the same for the same reply. */
export const textOfReply = (reply: Reply) =>
  reply instanceof ReplyError ? `!${reply.message}` : JSON.stringify(reply);

function nameOf(input: Input): string {
  const { at, chance, type } = input;
  if (type === 'reply') return `${at} ${chance} reply ${input.id} ${textOfReply(input.reply)}`;
  if (type === 'timer') return `${at} ${chance} timer ${input.id}`;
  return type === 'message' ? `${at} ${chance} ${input.channel} ${input.message}` : `${at} ${chance} ${type}`;
}

/** Everything that a promise has set off has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** The process to which something is happening: what nobody catches is its own. */
let dying: ((why: unknown) => void) | undefined;
let isWatching = false;

/** What nobody catches ends a process of Node, and so it ends one of the search. */
function watchForDeaths() {
  if (isWatching) return;
  isWatching = true;
  process.on('unhandledRejection', (why) => {
    if (dying === undefined) throw why;
    dying(why);
  });
}

/** Starts a process of this name. Its lock's file is evaluated afresh. */
export function startProcess(name: string, options: ProcessOptions): Live {
  watchForDeaths();
  const { openLock, servers, sales, script } = options;
  const world = createWorld(name, servers);
  const told: Told[] = [];
  const hangUp = new AbortController();
  /** Since when each sale that waits has waited. */
  const waiting = new Map<number, number>();
  /** Sales that waited when the client hung up, and when that was. */
  let gone: { sales: number[]; at: number } | undefined;
  /** The bucket that each sale is inside of. */
  const inside = new Map<number, number>();
  const open = new Set<number>();
  let now = 0;
  let isOver = false;
  let death: string | undefined;

  async function run() {
    const { redis, masters, sleep } = world;
    const ask = (sale: number) => {
      open.add(sale);
      waiting.set(sale, now);
    };
    const emit = (sale: number, step: SaleStep, more: Partial<Told> = {}) => {
      const isUnwanted = step === 'entered' && gone?.sales.includes(sale) && now > gone.at;
      told.push({ at: now, step, sale, ...more, ...(isUnwanted && { isUnwanted }) });
      waiting.delete(sale);
      if (step === 'waits again') waiting.set(sale, now);
      if (step === 'entered') inside.set(sale, more.bucket ?? 0);
      if (step === 'left' || step === 'failed') inside.delete(sale);
      if (step === 'released' || step === 'failed') open.delete(sale);
    };
    const { signal } = hangUp;
    const parts = { ...openLock(world), name, redis, masters, script, signal, sleep, ask, emit };
    await sellAll(sales, parts);
    isOver = true;
  }

  function die(why: unknown) {
    death ??= reasonOf(why);
  }

  function happen(input: Input) {
    if (input.type === 'begins') {
      run().catch(die);
    } else if (input.type === 'reply') world.reply(input.id, input.reply);
    else if (input.type === 'timer') world.fire(input.id);
    else if (input.type === 'message') world.hear(input.channel, input.message);
    else {
      gone = { sales: [...waiting.keys()], at: now };
      hangUp.abort();
    }
  }

  return {
    seen: () => ({
      pending: death === undefined ? world.pending() : [],
      timers: death === undefined ? world.timers() : [],
      told: [...told],
      insideOf: [...inside.values()],
      isReader: script.isReader === true,
      waitsSince: waiting.size > 0 ? Math.min(...waiting.values()) : undefined,
      isOver,
      open: [...open],
      line: world.line(),
      refusal: world.refusal(),
      death,
      hasUsedChance: world.hasUsedChance(),
    }),
    async apply(input) {
      now = input.at;
      world.begin(input);
      dying = die;
      try {
        happen(input);
      } catch (error) {
        die(error);
      }
      await settled();
      dying = undefined;
    },
  };
}
