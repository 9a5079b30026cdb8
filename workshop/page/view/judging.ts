// What scenarios and search say of a lock of one's own.

import { saysOfScope } from '../../../prove/wording.ts';
import type { CellTask, Ready, ScopeTask } from '../worker.ts';
import { type Engine, LateError } from './engine.ts';
import type { PageExercise } from './exercises.ts';
import { type Told, whatAsks } from './wording.ts';

/** What the lock of one's own is called wherever a lock has a name. */
export const MINE = 'mine';
/** What takes long begins early, so that no lab waits for it alone at the end. With two, a lock that never ends is found before any search. */
const LONG = ['redis-outage', 'overtaking'];
/** What the search looks at when no exercise says more. */
const usualSearch: PageExercise['search'] = {
  scopes: ['plain', 'crashed-holder', 'slow-holder', 'late-release', 'nested-call', 'long-sale'],
};

/** Something that is asked of a lock, and what came of it. */
export interface Judged {
  name: string;
  isOfSearch: boolean;
  /** It decides the exercise. */
  isAsked: boolean;
  verdict: 'pass' | 'fail' | 'unknown';
  asks: Told[];
  says: Told[];
}

interface Wanted {
  text: string;
  exercise: PageExercise | undefined;
  drills: Ready['drills'];
}

const verdicts = { holds: 'pass', fails: 'fail', unknown: 'unknown' } as const;

/**
 * Judges a lock, what the exercise asks for first. What comes to no end in time is not known. Rejects when a second scenario has come to
 * none, and when the lock can't be played: then the rest is not.
 */
export async function judge(engine: Engine, { text, exercise, drills }: Wanted, onJudged: (judged: Judged) => void) {
  const own = exercise?.drills ?? [];
  const rankOf = ({ name }: { name: string }) => (own.includes(name) ? 0 : LONG.includes(name) ? 1 : 3);
  let late = 0;
  const play = async (drill: Ready['drills'][number]) => {
    const { name } = drill;
    const judged = { name, isOfSearch: false, isAsked: own.includes(name), asks: whatAsks(drill) };
    try {
      const { verdict, says = [] } = (await engine.ask('play', cellOf(text, name))).record;
      if (verdict !== 'not-applicable') onJudged({ ...judged, verdict, says: says.map((reason) => ({ reason })) });
    } catch (error) {
      if (!(error instanceof LateError)) throw error;
      onJudged({ ...judged, verdict: 'unknown', says: error.told });
      late += 1;
      if (late === 1) return;
      engine.forget(text);
      throw new LateError([...error.told, { text: 'secondLate' }]);
    }
  };
  const search = async (name: string) => {
    const scope = saysOfScope(name);
    const asks: Told[] = scope ? [{ search: scope }] : [];
    const judged = { name, isOfSearch: true, isAsked: exercise !== undefined, asks };
    try {
      const { verdict, why } = await engine.ask('search', scopeOf(text, name, exercise));
      onJudged({ ...judged, verdict: verdicts[verdict], says: [{ search: why }] });
    } catch (error) {
      // What the search can't control, or not in time, may be played all the same.
      const says = error instanceof LateError ? error.told : [{ english: (error as Error).message }];
      onJudged({ ...judged, verdict: 'unknown', asks: [], says });
    }
  };
  const plays = drills
    .toSorted((one, other) => rankOf(one) - rankOf(other))
    .map((drill) => [rankOf(drill), () => play(drill)] as const);
  const searches = (exercise?.search ?? usualSearch).scopes.map((scope) => [2, () => search(scope)] as const);
  const inOrder = [...plays, ...searches].toSorted(([one], [other]) => one - other);
  await Promise.all(inOrder.map(([, start]) => start()));
}

export const cellOf = (own: string, drill: string): CellTask => ({ stage: MINE, own, drill });

export function scopeOf(own: string, scope: string, exercise: PageExercise | undefined): ScopeTask {
  const { processes = 2, sales = 1, atOnce = false } = exercise?.search ?? {};
  return { stage: MINE, own, scope, processes, sales, ...(atOnce && { isAtOnce: true }) };
}
