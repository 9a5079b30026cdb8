// The schema of `prove.json`, the results of the model checker. Other programs read it: a breaking change gets a new `format`.

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Cell } from '../../prove/cell.ts';
import { scopes } from '../../prove/scopes.ts';
import type { Step } from '../../prove/state.ts';
import { clauseInEnglish } from '../../prove/wording.ts';
import { nameIn } from '../../services/inventory/servers/redis-info.ts';
import { openValkey } from '../../simulation/valkey.ts';
import { type Machine, machineSchema } from '../evidence/results.ts';
import { columnNames } from '../staircase/lookup.ts';
import { expectedVerdict } from './expected.ts';
import { differenceOf, nameOfCell } from './matrix.ts';
import { provableLocks } from './plan.ts';

const count = z.int().min(0);

/** A lock in a scope. */
export interface ProofCell extends Cell {
  /** The drill of the same name; null when there is none. */
  drill: string | null;
  /** What is promised of the lock in the scope; null where nothing is, and where other faults may happen than the scope has. */
  expected: 'holds' | 'fails' | null;
}

/** `prove.json`. The model checker returns facts; here they are English text. */
export const proofSchema = z.object({
  format: z.literal(2),
  createdAt: z.iso.datetime(),
  durationMs: count,
  machine: machineSchema.describe('As in Environment.'),
  command: z.string().describe('The command that repeats it.'),
  server: z.string().describe('The server of the model checker, such as `Valkey 9.1.1`.'),
  verdict: z.enum(['as-expected', 'not-as-expected', 'unknown']),
  verdictReasons: z.array(z.string()).describe('A sentence for each cell that decided it.'),
  cells: z.array(
    z.looseObject({
      stage: z.string().describe('The lock.'),
      scope: z.string(),
      says: z.string().describe('The fault model, in a sentence.'),
      drill: z.string().nullable().describe('The drill of the same name.'),
      verdict: z.enum(['holds', 'fails', 'unknown']),
      expected: z.enum(['holds', 'fails']).nullable().describe('null if nothing is expected.'),
      reason: z.string().describe('The violation, or why nothing can be concluded.'),
      states: count.describe('States that the model checker saw.'),
      schedules: z.number().min(0).describe('Interleavings of these states; 0 when the search was incomplete.'),
      cut: count.describe('Branches that were not followed to their end.'),
      processes: count,
      sales: count.describe('Sales of each process.'),
      masters: count.describe('Masters that vote; 0 with one server.'),
      budget: z.record(z.string(), count).describe('How often each fault may happen.'),
      ms: z.number().min(0),
      replayed: count.optional().describe('Replays of the counterexample with the same result.'),
      counterexample: z
        .array(
          z.looseObject({
            at: z.number().describe('In milliseconds.'),
            process: z.string(),
            kind: z.string(),
            command: z.string(),
            reply: z.string().optional(),
          }),
        )
        .optional()
        .describe('The shortest interleaving that violates a demand. Further members serve its replay.'),
    }),
  ),
});

type ProofInWords = z.infer<typeof proofSchema>;

export interface Proof extends Omit<ProofInWords, 'machine' | 'cells'> {
  machine: Machine;
  cells: ProofCell[];
}

/** What `prove.json` has. */
export const inWords = ({ cells, ...proof }: Proof): ProofInWords => ({
  ...proof,
  cells: cells.map(({ counterexample, ...cell }) => ({
    ...cell,
    why: undefined,
    budget: { ...cell.budget },
    ...(counterexample && { counterexample: counterexample.map(stepInWords) }),
  })),
});

const stepInWords = ({ at, process, kind, what, ...step }: Step) => ({
  ...{ at, process, kind, command: clauseInEnglish(what) },
  ...step,
});

/** The results of all cells, with the drill of each name, and the verdict of the run. */
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

/** Not as expected when one cell is not; unknown when nothing is known. The reasons name each cell whose interleavings were not all checked. */
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
