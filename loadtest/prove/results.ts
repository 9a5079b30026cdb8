// What a run of the search concludes, as `prove.json` has it. Others read it: a change that breaks them gets a new `format`.

import { isDeepStrictEqual } from 'node:util';
import type { Cell } from '../../prove/cell.ts';
import { scopes } from '../../prove/scopes.ts';
import type { Step } from '../../prove/state.ts';
import { clauseInEnglish } from '../../prove/wording.ts';
import { nameIn } from '../../services/inventory/servers/redis-info.ts';
import { openValkey } from '../../simulation/valkey.ts';
import type { Machine } from '../evidence/results.ts';
import { columnNames } from '../staircase/lookup.ts';
import { expectedVerdict } from './expected.ts';
import { differenceOf, nameOfCell } from './matrix.ts';
import { provableLocks } from './plan.ts';

/** A lock in a scope. */
export interface ProofCell extends Cell {
  /** The drill of the same name; null when there is none. */
  drill: string | null;
  /** What is promised of the lock in the scope; null where nothing is, and where other faults may happen than the scope has. */
  expected: 'holds' | 'fails' | null;
}

export interface Proof {
  format: 2;
  createdAt: string;
  durationMs: number;
  machine: Machine;
  /** The command that repeats it. */
  command: string;
  /** The server of the search, such as `Valkey 9.1.1`. */
  server: string;
  verdict: 'as-expected' | 'not-as-expected' | 'unknown';
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
    const scope = scopes.find(({ name }) => name === cell.scope);
    const expected = isDeepStrictEqual(cell.budget, scope?.budget) && expectedVerdict(cell.stage, cell.scope);
    return { ...cell, drill, expected: expected || null };
  });
  const { reply } = (await openValkey()).run(0, ['INFO', 'server']);
  return {
    ...{ format: 2, createdAt: createdAt.toISOString(), ...run },
    durationMs: Math.max(0, Date.now() - createdAt.getTime()),
    server: nameIn(String(reply)),
    ...judgeProof(cells),
    cells,
  };
}

type Judged = Pick<ProofCell, 'stage' | 'scope' | 'processes' | 'verdict' | 'expected' | 'reason'>;

/**
 * Whether a cell came out as it must: one of the course as it is expected, that of another lock so that it holds. What is not known of a
 * lock of the course contradicts nothing.
 */
export function isAsExpected({ stage, verdict, expected }: Judged): boolean {
  const isOfCourse = provableLocks.some((lock) => lock.stage === stage);
  if (verdict === 'unknown') return isOfCourse;
  return isOfCourse ? expected === null || verdict === expected : verdict === 'holds';
}

/** Not as expected when one cell is not; unknown when nothing is known. The reasons name each cell of which not every order was looked at. */
export function judgeProof(cells: Judged[]): Pick<Proof, 'verdict' | 'verdictReasons'> {
  const open = cells.filter(({ verdict }) => verdict === 'unknown');
  const off = cells.filter((cell) => cell.verdict !== 'unknown' && !isAsExpected(cell));
  return {
    verdict: off.length > 0 ? 'not-as-expected' : open.length === cells.length ? 'unknown' : 'as-expected',
    verdictReasons: [
      ...off.map((cell) => `${nameOfCell(cell)}: ${differenceOf(cell)}`),
      ...open.map((cell) => `${nameOfCell(cell)}: unknown. ${cell.reason}`),
    ],
  };
}
