// `prove.json`: what the search over every order of events found, as a schema. Others read it.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { machineSchema } from './results.ts';

const count = z.int().min(0);
const milliseconds = z.number().min(0);

/** One step of a counterexample. With `sent` and `input` it can be replayed. */
const stepSchema = z.object({
  /** In milliseconds of the search's clock, from the beginning. */
  at: milliseconds,
  /** `A`, `B`, …; `the clock`, `the server`. */
  process: z.string(),
  kind: z.enum([
    'begins',
    'command',
    'reply',
    'message',
    'timer',
    'pause',
    'wake',
    'hold up',
    'let go',
    'crash',
    'hang up',
    'failover',
    'freeze',
    'restart empty',
    'clock jump',
    'clock',
  ]),
  /** What happened, in words. */
  command: z.string(),
  reply: z.string().optional(),
  /** The command that reached a server. With masters, server 0 has the stock. */
  sent: z
    .object({
      server: count,
      line: z.enum(['commands', 'messages']),
      command: z.array(z.union([z.string(), z.number()])),
      hasChanged: z.boolean(),
    })
    .optional(),
  /** What the process was given. */
  input: z.looseObject({ at: milliseconds, chance: z.number(), type: z.string() }).optional(),
  /** What the process did because of it. */
  told: z.array(
    z.object({
      at: milliseconds,
      step: z.enum([
        'entered',
        'nested',
        'read',
        'wrote',
        'put back',
        'sold out',
        'left',
        'waits again',
        'released',
        'failed',
      ]),
      /** Which of its sales, from 1. */
      sale: count,
      stock: z.number().optional(),
      /** Which bucket of the stock, from 0, where it lies in several. */
      bucket: count.optional(),
      why: z.string().optional(),
    }),
  ),
});

/** A lock in a scope. */
export const proofCellSchema = z.object({
  stage: z.string(),
  scope: z.string(),
  /** The drill that stages the same; null when there is none. */
  drill: z.string().nullable(),
  /** What may go wrong, in a sentence. */
  says: z.string(),
  /** `unknown`: not every order was looked at, so nothing may be concluded. */
  verdict: z.enum(['holds', 'fails', 'unknown']),
  /** What the staircase says of the drill; null where it leaves it open. */
  taught: z.enum(['holds', 'fails']).nullable().default(null),
  /** What was violated, or why nothing can be said. */
  reason: z.string(),
  states: count,
  /** How many orders there are; exact up to 2^53. 0 when not every order was looked at. */
  schedules: z.number().min(0),
  /** Branches that were not followed to their end. */
  cut: count,
  processes: count,
  /** How many sales each process makes. */
  sales: count,
  /** How many masters vote; 0 for a lock that asks one server. */
  masters: count,
  /** Its stock lies in several buckets, each with a lock of its own. */
  isInBuckets: z.boolean().optional(),
  /** A reply is a step of its own. */
  isSplit: z.boolean(),
  /** How often each fault may happen; those that may not are absent. */
  budget: z.record(z.string(), count),
  /** How long the search took, in milliseconds. */
  ms: milliseconds,
  /** How often the counterexample was replayed, and went the same way each time. */
  replayed: count.optional(),
  /** The shortest order of events that violates a demand. */
  counterexample: z.array(stepSchema).optional(),
  /** What became of the counterexample on a server of its own, which has sockets and a clock. */
  onRedis: z.object({ server: z.string(), times: count, sameEachTime: z.boolean() }).optional(),
});

/** `prove.json`. Others read it: a change that breaks them gets a new `format`. */
export const proofSchema = z.object({
  format: z.literal(1),
  createdAt: z.iso.datetime(),
  /** How long the run took, and on what. Absent in proofs from before it was noted. */
  durationMs: milliseconds.optional(),
  machine: machineSchema.optional(),
  command: z.string(),
  /** The server of the search, such as `Valkey 9.1.1`. */
  server: z.string(),
  verdict: z.enum(['as-taught', 'not-as-taught', 'unknown']),
  /** One sentence for each cell that is not as expected or unknown. */
  verdictReasons: z.array(z.string()).default([]),
  cells: z.array(proofCellSchema),
});

export type ProofStep = z.infer<typeof stepSchema>;
export type ProofCell = z.infer<typeof proofCellSchema>;
export type Proof = z.infer<typeof proofSchema>;

/** The file in the folder of a run. */
export const PROOF_FILE = 'prove.json';
/** The link in the folder of the reports that leads to the newest proof. */
export const LATEST_PROOF = 'latest-prove';

/** Reads the `prove.json` of a folder. Throws with one sentence when there is none, or when it is another file. */
export function readProof(folder: string): Proof {
  const file = join(folder, PROOF_FILE);
  const { success, data, error } = proofSchema.safeParse(parse(file));
  if (success) return data;
  const [issue] = error.issues;
  throw new Error(`${file} is not a proof of format 1: ${issue?.path.join('.') || 'all of it'}: ${issue?.message}.`);
}

function parse(file: string): unknown {
  if (!existsSync(file)) throw new Error(`There is no ${file}.`);
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file} can't be read: ${error instanceof Error ? error.message : error}.`);
  }
}

/** The newest proof in the folder of the reports. Undefined when there is none that can be read: a report must not fail for it. */
export function latestProof(reportsDir: string): Proof | undefined {
  try {
    return readProof(join(reportsDir, LATEST_PROOF));
  } catch {
    return undefined;
  }
}

/** What a proof says of a stage under a drill: the worst, where it was looked at more than once. Undefined when it says nothing. */
export function provedOf(
  proof: Proof | undefined,
  { stage, drill }: { stage: string; drill: string },
): ProofCell['verdict'] | undefined {
  const found = proof?.cells.filter((cell) => cell.stage === stage && cell.drill === drill) ?? [];
  return (['fails', 'unknown', 'holds'] as const).find((verdict) => found.some((cell) => cell.verdict === verdict));
}
