// What a run of the search concludes, as `prove.json` has it. Others read it: a change that breaks them gets a new `format`.

import type { Cell } from '../../prove/cell.ts';
import type { Step } from '../../prove/state.ts';
import { clauseInEnglish } from '../../prove/wording.ts';
import { nameIn } from '../../services/inventory/servers/redis-info.ts';
import { openValkey } from '../../simulation/valkey.ts';
import type { Machine } from '../evidence/results.ts';
import { columnNames } from '../staircase/lookup.ts';
import { expectedVerdict, provableLocks } from './plan.ts';

/** A lock in a scope. */
export interface ProofCell extends Cell {
  /** The drill of the same name; null when there is none. */
  drill: string | null;
  /** What the staircase says of that drill; null where it leaves it open. */
  taught: 'holds' | 'fails' | null;
}

export interface Proof {
  format: 1;
  createdAt: string;
  durationMs: number;
  machine: Machine;
  /** The command that repeats it. */
  command: string;
  /** The server of the search, such as `Valkey 9.1.1`. */
  server: string;
  verdict: 'as-taught' | 'not-as-taught' | 'unknown';
  /** One sentence for each cell that is not as expected or unknown. */
  verdictReasons: string[];
  cells: ProofCell[];
}

/** What `prove.json` has: what the search says is English text in it. */
export const inWords = ({ cells, ...proof }: Proof) => ({
  ...proof,
  cells: cells.map((cell) => ({
    ...cell,
    why: undefined,
    ...(cell.counterexample && { counterexample: cell.counterexample.map(stepInWords) }),
  })),
});

const stepInWords = ({ at, process, kind, what, ...step }: Step) => ({
  ...{ at, process, kind, command: clauseInEnglish(what) },
  ...step,
});

/** What the cells say together: for each the drill of its name, and whether all is as expected. */
export async function proofOf(
  found: Cell[],
  { createdAt, ...run }: Pick<Proof, 'command' | 'machine'> & { createdAt: Date },
): Promise<Proof> {
  const cells = found.map((cell): ProofCell => {
    const drill = columnNames.includes(cell.scope) ? cell.scope : null;
    return { ...cell, drill, taught: expectedVerdict(cell.stage, cell.scope) ?? null };
  });
  const { reply } = (await openValkey()).run(0, ['INFO', 'server']);
  return {
    ...{ format: 1, createdAt: createdAt.toISOString(), ...run },
    durationMs: Math.max(0, Date.now() - createdAt.getTime()),
    server: nameIn(String(reply)),
    ...judgeProof(cells),
    cells,
  };
}

type Judged = Pick<ProofCell, 'stage' | 'scope' | 'verdict' | 'taught' | 'reason'>;

/**
 * Whether a cell came out as it must: one of the course as it is taught, that of another lock so that it holds. What is not known of a
 * lock of the course contradicts nothing.
 */
export function isAsExpected({ stage, verdict, taught }: Judged): boolean {
  const isOfCourse = provableLocks.some((lock) => lock.stage === stage);
  if (verdict === 'unknown') return isOfCourse;
  return isOfCourse ? taught === null || verdict === taught : verdict === 'holds';
}

/** Not as expected when one cell is not; unknown when nothing is known. The reasons name each cell of which not every order was looked at. */
export function judgeProof(cells: Judged[]): Pick<Proof, 'verdict' | 'verdictReasons'> {
  const open = cells.filter(({ verdict }) => verdict === 'unknown');
  const off = cells.filter((cell) => cell.verdict !== 'unknown' && !isAsExpected(cell));
  return {
    verdict: off.length > 0 ? 'not-as-taught' : open.length === cells.length ? 'unknown' : 'as-taught',
    verdictReasons: [
      ...off.map(
        ({ stage, scope, verdict, taught }) =>
          `${stage} ${scope}: it ${verdict}, but ${taught ?? 'holds'} is expected.`,
      ),
      ...open.map(({ stage, scope, reason }) => `${stage} ${scope}: unknown. ${reason}`),
    ],
  };
}
