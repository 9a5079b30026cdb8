// What a run over the locks with known bugs found: `docs/measured/known-bugs.json`.

import { z } from 'zod';

/** A cell that does not hold: a check of the contract, a drill, or a scope of the search. */
const faultSchema = z.object({
  name: z.string(),
  verdict: z.enum(['fail', 'unknown']),
  /** Why, as the run said it. */
  reason: z.string(),
  /** Why it is no fault of this lock: it never promised that. */
  notPromised: z.string().optional(),
});

const rowSchema = z.object({
  name: z.string(),
  /** How many cells there were, those that do not apply left out. */
  cells: z.int(),
  contract: z.array(faultSchema),
  drills: z.array(faultSchema),
  search: z.array(faultSchema),
});

export const recordSchema = z.object({
  format: z.literal(1),
  createdAt: z.iso.datetime(),
  /** What it was run on. */
  node: z.string(),
  os: z.string(),
  cpus: z.string(),
  servers: z.string(),
  commit: z.string(),
  rows: z.array(rowSchema),
});

export type Fault = z.infer<typeof faultSchema>;
export type Row = z.infer<typeof rowSchema>;
export type Record = z.infer<typeof recordSchema>;

/** The parts of a verdict, in the order in which a lock goes through them. */
export const parts = ['contract', 'drills', 'search'] as const;
export type Part = (typeof parts)[number];

/** What a lock fails that the lock without the bug does not, by part. What is unknown catches nothing. */
export function caughtBy(row: Row, control: Row): { [part in Part]: string[] } {
  const own = (part: Part) => {
    const fails = ({ verdict }: Fault) => verdict === 'fail';
    const anyway = control[part].filter(fails).map(({ name }) => name);
    return row[part].filter((fault) => fails(fault) && !anyway.includes(fault.name)).map(({ name }) => name);
  };
  return { contract: own('contract'), drills: own('drills'), search: own('search') };
}
