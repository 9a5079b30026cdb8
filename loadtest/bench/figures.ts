// Computes the figures of a turn, their values over the rounds, and the ratios.

import { quantile, sum } from '../narration/numbers.ts';
import { BY_HAND, type Contestant, letsOneInAtATime, nameOnAnyNodes, WITH_ORDERS } from './contestants.ts';
import { type CpuTime, cpuPerAcquisition } from './cpu-time.ts';
import type { BenchResults, Spread, Turn, TurnFigures } from './results.ts';
import type { Counted } from './waiters.ts';

/** The raw measurements of a turn. */
export interface Evidence {
  /** How many waiters there were in all. */
  asking: number;
  /** Its waiters enter one after the other, so that there is a queue to be fair in. */
  hasQueue: boolean;
  counted: Counted[];
  /** At the two ends of the window: how many sales the stock has taken, the commands that Redis had processed, and the CPU time that it had used. */
  before: { count: number; commands: number; cpu: CpuTime };
  after: { count: number; commands: number; cpu: CpuTime };
  /** How many sales the stock had taken when all was over. */
  finalCount: number;
}

/**
 * The figures of one turn. A waiter that got nothing in the whole window counts with its wait so far, so that a lock does not
 * look the better the more it starves.
 */
export function figuresOf({ asking, hasQueue, counted, before, after, finalCount }: Evidence): TurnFigures {
  const sections = sum(counted.map((process) => process.sections));
  const perSecond = sum(counted.map(({ waits, windowMs }) => (waits.length / windowMs) * 1_000));
  const starved = counted.flatMap((process) => process.starved);
  const waits = [...counted.flatMap((process) => [...process.waits]), ...starved].sort((a, b) => a - b);
  const ideal = hasQueue ? idealWaitsMs(asking, counted) : [];
  const acquired = after.count - before.count;
  const entered = sum(counted.map((process) => process.waits.length));
  const cpuUsed = { processes: sum(counted.map((process) => process.cpuMicros)) };
  const p99 = quantile(waits, 0.99);
  // Otherwise p99 would be that of a wait that has not ended: nobody knows how long it is.
  const isP99Known = waits.length > 0 && starved.length < 0.01 * waits.length;
  const error = counted.find((process) => process.error !== undefined)?.error;

  return {
    perSecond,
    ...(acquired > 0 && { commandsPerAcquisition: (after.commands - before.commands) / acquired }),
    cpuMicros: {
      ...cpuPerAcquisition({ processes: 0 }, cpuUsed, entered),
      ...cpuPerAcquisition(before.cpu, after.cpu, acquired),
    },
    ...(waits.length > 0 && { waitMs: { p50: quantile(waits, 0.5), p99, max: quantile(waits, 1) } }),
    ...(isP99Known && ideal.length > 0 && { p99ToIdeal: p99 / quantile(ideal, 0.99) }),
    sections,
    lostUpdates: Math.max(0, sections - finalCount),
    starved: starved.length,
    errors: sum(counted.map((process) => process.errors)),
    ...(error !== undefined && { error }),
  };
}

/**
 * How long the acquisitions of the window had waited in a perfect queue that lets somebody in at the very same moments, in
 * milliseconds: first come, first served, `asking` waiters, each of whom asks again when the one after it enters. A pace that
 * changes, as it does on a shared machine, is in these moments; `asking` ÷ rate would take it for unfairness.
 */
export function idealWaitsMs(asking: number, counted: Pick<Counted, 'enteredAt' | 'measuredFrom'>[]): number[] {
  const enteredAt = counted.flatMap((process) => [...process.enteredAt]).sort((a, b) => a - b);
  const from = Math.max(...counted.map(({ measuredFrom }) => measuredFrom));
  return enteredAt
    .map((at, i) => ({ at, askedAt: enteredAt[i - asking + 1] }))
    .flatMap(({ at, askedAt }) => (at >= from && askedAt !== undefined ? [at - askedAt] : []))
    .sort((a, b) => a - b);
}

/** The median, the lowest and the highest value. Undefined if there are none. */
export function spreadOf(values: number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const value = (Number(sorted[Math.floor(middle)]) + Number(sorted[Math.ceil(middle)])) / 2;
  return { value, min: Number(sorted[0]), max: Number(sorted.at(-1)) };
}

/** One figure of one lock over the rounds. */
export function spreadOver(turns: Turn[], name: string, waiters: number, figure: Figure): Spread | undefined {
  const own = turns.filter((turn) => turn.name === name && turn.waiters === waiters);
  return spreadOf(own.flatMap(({ figures }) => (figures && figure(figures)) ?? []));
}

/** Reads one figure of a turn. */
export type Figure = (figures: TurnFigures) => number | undefined;

/** What a round measured at one number of waiters: NaN where there is nothing. A turn that lost updates was no lock, and is not in it. */
interface Round {
  /** A figure of a contestant: its rate when none is named. */
  of(name: string, figure?: 'perSecond' | 'commandsPerAcquisition' | 'p99ToIdeal'): number;
  /** The CPU time that a sale of this one costs the nodes ÷ that of the service written by hand. */
  toByHand(name: string): number;
  /** The highest rate of the contestants of this kind, or of those of them that are meant. */
  fastest(kind: Contestant['kind'], isMeant?: (name: string) => boolean): number;
}

type Read = (round: Round) => number;

/** By their names. `docs/explanation/benchmarks.md` says what each is. */
const comparisons: Record<BenchResults['mode'], Record<string, Read>> = {
  locks: {
    'cohort/ceiling': ({ of }) => of('cohort') / of('serial-ceiling'),
    'cohort/handover': ({ of }) => of('cohort') / of('handover-ceiling'),
    'combine/cohort': ({ of }) => of('combine') / of('cohort'),
    'best/peer': ({ fastest }) => fastest('ours') / fastest('peer'),
    'excluding/peer': ({ fastest }) => fastest('ours', letsOneInAtATime) / fastest('peer'),
    'cohort/commands': ({ of }) => of('cohort', 'commandsPerAcquisition'),
    'blocking/commands': ({ of }) => of('blocking', 'commandsPerAcquisition'),
    'fair/commands': ({ of }) => of('fair', 'commandsPerAcquisition'),
    'fair/p99-ideal': ({ of }) => of('fair', 'p99ToIdeal'),
  },
  http: {
    'combine/redis-atomic': ({ of }) => of('combine') / of('redis-atomic'),
    'cohort/redis-atomic': ({ of }) => of('cohort') / of('redis-atomic'),
    'redis-atomic/by-hand': ({ toByHand }) => toByHand('redis-atomic'),
    '8-auto-renew/by-hand': ({ toByHand }) => toByHand('8-auto-renew'),
    'blocking/by-hand': ({ toByHand }) => toByHand('blocking'),
    'cohort/by-hand': ({ toByHand }) => toByHand('cohort'),
  },
};

type Measured = Pick<BenchResults, 'mode' | 'turns' | 'contestants'>;

/**
 * The ratios of a run, each taken within a round and then over the rounds, by their names: behind the `@` stands the number of waiters in
 * each process, or of connections. What was not measured is absent. Where sales were measured with an order each, so is what that left of
 * their rate, such as `cohort+orders/cohort@100`, and on more nodes what that left of the rate on the fewest, such as `cohort×8/cohort×2@100`.
 */
export function ratiosOf({ mode, turns, contestants }: Measured): BenchResults['ratios'] {
  const kinds = new Map(contestants.map(({ name, kind }) => [name, kind]));
  const numbers = [...new Set(turns.map(({ round }) => round))];
  const counts = [...new Set(turns.map(({ waiters }) => waiters))];
  const withOrders = [...kinds.keys()].flatMap((name): [string, Read][] => {
    const plain = name.replace(WITH_ORDERS, '');
    return plain === name ? [] : [[`${name}/${plain}`, ({ of }) => of(name) / of(plain)]];
  });
  const onMoreNodes = [...kinds.keys()].flatMap((name, _at, names): [string, Read][] => {
    const onFewest = names.find((other) => nameOnAnyNodes(other) === nameOnAnyNodes(name)) ?? name;
    return onFewest === name ? [] : [[`${name}/${onFewest}`, ({ of }) => of(name) / of(onFewest)]];
  });
  const compared = [...Object.entries(comparisons[mode]), ...withOrders, ...onMoreNodes];
  const measured = compared.flatMap(([name, read]) =>
    counts.flatMap((waiters) => {
      const spread = spreadOf(numbers.map((number) => read(roundAt(number, waiters))).filter(Number.isFinite));
      return spread ? [[`${name}@${waiters}`, spread]] : [];
    }),
  );
  return Object.fromEntries(measured);

  function roundAt(number: number, waiters: number): Round {
    const held = turns.filter(
      (turn) => turn.round === number && turn.waiters === waiters && turn.figures?.lostUpdates === 0,
    );
    const of: Round['of'] = (name, figure = 'perSecond') =>
      held.find((turn) => turn.name === name)?.figures?.[figure] ?? Number.NaN;
    const cpuOf = (name: string) => held.find((turn) => turn.name === name)?.figures?.cpuMicros.processes ?? Number.NaN;
    return {
      of,
      toByHand: (name) => cpuOf(name) / cpuOf(BY_HAND),
      fastest(kind, isMeant = () => true) {
        const meant = held.filter(({ name }) => kinds.get(name) === kind && isMeant(name));
        return meant.length === 0 ? Number.NaN : Math.max(...meant.map(({ name }) => of(name)));
      },
    };
  }
}
