// The verdict on a user's lock, from scenarios and the model checker.

import { saysOfScope } from '../../../prove/wording.ts';
import type { CellTask, Ready, ScopeTask } from '../worker.ts';
import { type Engine, LateError } from './engine.ts';
import type { PageExercise } from './exercises.ts';
import { type Told, whatAsks } from './wording.ts';

/** The name of a user's lock. */
const MINE = 'mine';
/** Slow tasks start early, so that no lab waits for them at the end. With two labs, a lock that never finishes is found before the model checker runs. */
const LONG = ['redis-outage', 'overtaking'];
/** The default fault models. */
const usualSearch: PageExercise['search'] = {
  scopes: ['plain', 'crashed-holder', 'slow-holder', 'late-release', 'nested-call', 'long-sale'],
};

/** A check of a lock, and its result. */
export interface Judged {
  name: string;
  isOfSearch: boolean;
  /** Many sales at once. */
  isLoad: boolean;
  /** True if it decides the exercise. */
  isAsked: boolean;
  verdict: 'pass' | 'fail' | 'unknown';
  asks: Told[];
  says: Told[];
  /** The line of the lock that threw the error in the verdict. */
  line?: number | undefined;
}

/** The results of all checks, failures first. `late`: why the rest is unknown. */
export interface Outcome {
  judged: Judged[];
  late?: LateError;
}

interface Wanted {
  text: string;
  exercise: PageExercise | undefined;
  drills: Ready['drills'];
}

const verdicts = { holds: 'pass', fails: 'fail', unknown: 'unknown' } as const;
const ranks = { fail: 0, unknown: 1, pass: 2 };

/**
 *
 * Judges a lock, starting with the exercise's checks. A check that does not finish in time is unknown, and after a second
 * unfinished scenario no more are played. Rejects if the lock can't be played. `onProgress` is called with the number of checks
 * done and the total.
 *
 */
export async function judge(
  engine: Engine,
  { text, exercise, drills }: Wanted,
  onProgress: (done: number, of: number) => void,
): Promise<Outcome> {
  const own = exercise?.drills ?? [];
  const rankOf = ({ name }: { name: string }) => (own.includes(name) ? 0 : LONG.includes(name) ? 1 : 3);
  const late: LateError[] = [];
  const play = async (drill: Ready['drills'][number]) => {
    const { name, isLoad } = drill;
    const judged = { name, isOfSearch: false, isLoad, isAsked: own.includes(name), asks: whatAsks(drill) };
    try {
      const { record, line } = await engine.ask('play', cellOf(text, name));
      const { verdict, says } = record;
      return verdict === 'not-applicable'
        ? []
        : [{ ...judged, verdict, says: says.map((reason) => ({ reason })), line }];
    } catch (error) {
      if (!(error instanceof LateError)) throw error;
      late.push(error);
      return [{ ...judged, verdict: 'unknown' as const, says: error.told }];
    }
  };
  const search = async (name: string) => {
    const scope = saysOfScope(name);
    const asks: Told[] = scope ? [{ search: scope }] : [];
    const judged = { name, isOfSearch: true, isLoad: false, isAsked: exercise !== undefined, asks };
    try {
      const { verdict, why, line } = await engine.ask('search', scopeOf(text, name, exercise));
      return [{ ...judged, verdict: verdicts[verdict], says: [{ search: why }], line }];
    } catch (error) {
      // What the search can't control, or not in time, may be played all the same.
      const says = error instanceof LateError ? error.told : [{ english: (error as Error).message }];
      return [{ ...judged, verdict: 'unknown' as const, asks: [], says }];
    }
  };
  const asked = [
    ...drills.map((drill) => ({ rank: rankOf(drill), start: () => play(drill) })),
    ...(exercise?.search ?? usualSearch).scopes.map((scope) => ({ rank: 2, start: () => search(scope) })),
  ].map((each, place) => ({ ...each, place }));
  const inOrder = asked.toSorted((one, other) => one.rank - other.rank);
  const found: Judged[][] = asked.map(() => []);
  let done = 0;
  const asking = inOrder.map(async ({ start, place }) => {
    found[place] = await start();
    done += 1;
    onProgress(done, inOrder.length);
    const [, second] = late;
    if (second === undefined) return;
    engine.forget(text);
    throw new LateError([...second.told, { text: 'secondLate' }]);
  });
  const stopped = await Promise.all(asking).then(
    () => undefined,
    (error: Error) => error,
  );
  if (stopped && !(stopped instanceof LateError)) throw stopped;
  const judged = found.flat().toSorted((one, other) => ranks[one.verdict] - ranks[other.verdict]);
  return { judged, ...(stopped && { late: stopped }) };
}

export const cellOf = (own: string, drill: string): CellTask => ({ stage: MINE, own, drill });

export function scopeOf(own: string, scope: string, exercise: PageExercise | undefined): ScopeTask {
  const { processes = 2, sales = 1, atOnce = false } = exercise?.search ?? {};
  return { stage: MINE, own, scope, processes, sales, ...(atOnce && { isAtOnce: true }) };
}
