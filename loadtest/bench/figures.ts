// The figures of a turn, what they come to over the rounds, and the ratios that are compared with targets.

import type { Contestant } from './contestants.ts';
import type { BenchResults, Spread, Turn, TurnFigures } from './results.ts';
import type { Counted } from './waiters.ts';

/** What a turn left behind. */
export interface Evidence {
  /** How many waiters there were in all. */
  asking: number;
  counted: Counted[];
  /** At the two ends of the window: what was in the counter, and the commands that Redis had processed. */
  before: { count: number; commands: number };
  after: { count: number; commands: number };
  /** What was in the counter when all was over. */
  finalCount: number;
}

/**
 * The figures of one turn. A waiter that got nothing in the whole window counts with its wait so far, so that a lock does not
 * look the better the more it starves.
 */
export function figuresOf({ asking, counted, before, after, finalCount }: Evidence): TurnFigures {
  const sections = sum(counted.map((process) => process.sections));
  const perSecond = sum(counted.map(({ waits, windowMs }) => (waits.length / windowMs) * 1_000));
  const starved = counted.flatMap((process) => process.starved);
  const waits = [...counted.flatMap((process) => process.waits), ...starved].sort((a, b) => a - b);
  const ideal = idealWaitsMs(asking, counted);
  const acquired = after.count - before.count;
  const p99 = quantile(waits, 0.99);
  // Otherwise p99 would be that of a wait that has not ended: nobody knows how long it is.
  const isP99Known = waits.length > 0 && starved.length < 0.01 * waits.length;
  const error = counted.find((process) => process.error !== undefined)?.error;

  return {
    perSecond,
    ...(acquired > 0 && { commandsPerAcquisition: (after.commands - before.commands) / acquired }),
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
  const enteredAt = counted.flatMap((process) => process.enteredAt).sort((a, b) => a - b);
  const from = Math.max(...counted.map(({ measuredFrom }) => measuredFrom));
  return enteredAt
    .map((at, i) => ({ at, askedAt: enteredAt[i - asking + 1] }))
    .flatMap(({ at, askedAt }) => (at >= from && askedAt !== undefined ? [at - askedAt] : []))
    .sort((a, b) => a - b);
}

/** Of values in rising order: the lowest that is not below `share` of them. */
export function quantile(sorted: number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/** The median, the lowest and the highest. Undefined of nothing. */
export function spreadOf(values: number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const value = (Number(sorted[Math.floor(middle)]) + Number(sorted[Math.ceil(middle)])) / 2;
  return { value, min: Number(sorted[0]), max: Number(sorted.at(-1)) };
}

/** One figure of one lock over the rounds. */
export function spreadOver(turns: Turn[], name: string, waiters: number, figure: Figure): Spread | undefined {
  return spreadOf(
    turns
      .filter((turn) => turn.name === name && turn.waiters === waiters)
      .flatMap(({ figures }) => (figures && figure(figures)) ?? []),
  );
}

/** Reads one figure of a turn. */
export type Figure = (figures: TurnFigures) => number | undefined;

/** What must be reached, as ratios within one run, at so many waiters in each of two processes. */
export const targets: Record<string, { atLeast?: number; atMost?: number; says: string }> = {
  'cohort/ceiling@100': { atLeast: 0.9, says: 'cohort ÷ serial ceiling, acquisitions per second' },
  'cohort/ceiling@1000': { atLeast: 0.9, says: 'cohort ÷ serial ceiling, acquisitions per second' },
  'best/peer@100': { atLeast: 3, says: 'best of ours ÷ fastest published lock, acquisitions per second' },
  'best/peer@1000': { atLeast: 4, says: 'best of ours ÷ fastest published lock, acquisitions per second' },
  'cohort/commands@100': { atMost: 2.3, says: 'cohort: Redis commands per acquisition, section included' },
  'cohort/commands@1000': { atMost: 2.3, says: 'cohort: Redis commands per acquisition, section included' },
  'blocking/commands@100': { atMost: 16, says: 'blocking: Redis commands per acquisition, section included' },
  'blocking/commands@1000': { atMost: 16, says: 'blocking: Redis commands per acquisition, section included' },
  'fair/p99-ideal@100': { atMost: 1.3, says: 'fair: p99 of the wait ÷ the wait in a perfect queue' },
  'fair/p99-ideal@1000': { atMost: 1.3, says: 'fair: p99 of the wait ÷ the wait in a perfect queue' },
};

/** Whether a ratio reaches its target. Undefined when it was not measured. */
export function isReached(name: string, ratio: Spread | undefined): boolean | undefined {
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = targets[name] ?? {};
  return ratio && ratio.value >= atLeast && ratio.value <= atMost;
}

/**
 * The ratios of `targets`, each taken within a round and then over the rounds. A turn that lost updates was no lock: it is
 * nobody's best.
 */
export function ratiosOf({ turns, contestants }: Pick<BenchResults, 'turns' | 'contestants'>): BenchResults['ratios'] {
  const kinds = new Map(contestants.map(({ name, kind }) => [name, kind]));
  const rounds = [...new Set(turns.map(({ round }) => round))];
  const measured = Object.keys(targets).flatMap((name) => {
    const spread = spreadOf(rounds.flatMap((round) => ratioIn(round, name) ?? []));
    return spread ? [[name, spread]] : [];
  });
  return Object.fromEntries(measured);

  function ratioIn(round: number, ratio: string): number | undefined {
    const [what = '', waiters] = ratio.split('@');
    const held = turns.filter((turn) => turn.round === round && turn.waiters === Number(waiters) && isAlone(turn));
    const of = (name: string) => held.find((turn) => turn.name === name)?.figures;
    const fastest = (kind: string) => {
      const rates = held.flatMap((turn) => (kinds.get(turn.name) === kind ? (turn.figures?.perSecond ?? []) : []));
      return rates.length > 0 ? Math.max(...rates) : undefined;
    };
    if (what === 'cohort/ceiling') return divide(of('cohort')?.perSecond, fastest('ceiling'));
    if (what === 'best/peer') return divide(fastest('ours'), fastest('peer'));
    if (what === 'fair/p99-ideal') return of('fair')?.p99ToIdeal;
    return of(what.replace('/commands', ''))?.commandsPerAcquisition;
  }
}

/** With an order for each sale ÷ without, sales per second, each taken within a round. By their names, such as `cohort+orders/cohort@100`. */
export function orderRatios(turns: Turn[], contestants: Contestant[]): BenchResults['ratios'] {
  const sellers = contestants.filter(({ ordersUnder }) => ordersUnder !== undefined);
  const counts = [...new Set(turns.map(({ waiters }) => waiters))];
  const measured = sellers.flatMap(({ name, ordersUnder }) =>
    counts.flatMap((waiters) => {
      const own = turns.filter((turn) => turn.name === name && turn.waiters === waiters);
      const plain = turns.filter((turn) => turn.name === ordersUnder && turn.waiters === waiters);
      const spread = spreadOf(
        own.flatMap(({ round, figures }) => {
          const other = plain.find((turn) => turn.round === round);
          return divide(figures?.perSecond, other?.figures?.perSecond) ?? [];
        }),
      );
      return spread ? [[`${name}/${ordersUnder}@${waiters}`, spread]] : [];
    }),
  );
  return Object.fromEntries(measured);
}

function isAlone({ figures }: Turn): boolean {
  return figures?.lostUpdates === 0;
}

function divide(above: number | undefined, below: number | undefined): number | undefined {
  return above === undefined || !below ? undefined : above / below;
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
