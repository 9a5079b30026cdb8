// `docs/measured/figures.json`: what was measured for the documents, as a schema.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { projectDir } from '../../scripts/stack/parts.ts';
import { drillResultSchema, machineSchema } from '../evidence/results.ts';

const count = z.int().min(0);
const milliseconds = z.number().min(0);
/** The median of the rounds, the lowest and the highest. */
const spreadSchema = z.object({ value: z.number(), min: z.number(), max: z.number() });

/** A run of which something was recorded. */
const runSchema = z.object({
  command: z.string(),
  startedAt: z.iso.datetime(),
  durationMs: milliseconds,
  machine: machineSchema,
  /** What it ran against, with the versions. */
  servers: z.array(z.string()),
  /** How many cells it had, of a run of drills. */
  cells: count.optional(),
});

/** A drill under a stage, without what no document shows. */
const cellSchema = z.object({ stage: z.string(), result: drillResultSchema });

/** A lock at a number of waiters. */
const benchRowSchema = z.object({
  waiters: count,
  name: z.string(),
  perSecond: spreadSchema,
  commands: z.number().optional(),
  waitMs: z.object({ p50: milliseconds, p99: milliseconds, max: milliseconds }).optional(),
  p99ToIdeal: z.number().optional(),
  /** Of the worst round. */
  starved: count,
  /** Over all rounds. */
  lostUpdates: count,
});

const benchSchema = z.object({
  rounds: count,
  seconds: z.number(),
  /** The CPUs were kept awake. */
  isAwake: z.boolean(),
  rows: z.array(benchRowSchema),
  ratios: z.record(z.string(), spreadSchema),
});

export const recordSchema = z.object({
  format: z.literal(1),
  /** By the names of the steps. */
  runs: z.record(z.string(), runSchema),
  staircase: z
    .object({
      /** The rush of every row, and what the story of the stages shows. */
      cells: z.array(cellSchema),
      /** Every cell as a sign, row by row. */
      signs: z.record(z.string(), z.record(z.string(), z.string())),
    })
    .optional(),
  /** The rush of `mysql-optimistic` with so many buyers at a time. */
  buyers: z.array(z.object({ connections: count, result: drillResultSchema })).optional(),
  /** The figure of each cell, in words, and whether it holds. */
  orders: z.array(z.object({ stage: z.string(), drill: z.string(), sign: z.string(), figure: z.string() })).optional(),
  bench: benchSchema.optional(),
  'bench-http': benchSchema.optional(),
  'bench-orders': benchSchema.optional(),
  'bench-buckets': benchSchema.optional(),
  search: z
    .object({
      /** What was looked at, in a sentence. */
      says: z.string(),
      states: count,
      matrix: z.array(z.object({ stage: z.string(), signs: z.record(z.string(), z.string()) })),
    })
    .optional(),
});

/** The benches of the record. */
export const benchNames = ['bench', 'bench-http', 'bench-orders', 'bench-buckets'] as const;
export type BenchName = (typeof benchNames)[number];

export type Run = z.infer<typeof runSchema>;
export type BenchRow = z.infer<typeof benchRowSchema>;
export type FiguresRecord = z.infer<typeof recordSchema>;

const FILE = join(projectDir, 'docs/measured/figures.json');

/** What was recorded last. Empty when nothing was. */
export function readRecord(): FiguresRecord {
  if (!existsSync(FILE)) return { format: 1, runs: {} };
  return recordSchema.parse(JSON.parse(readFileSync(FILE, 'utf8')));
}

/** Keeps what was recorded. Thousandths tell nothing. */
export function writeRecord(record: FiguresRecord): void {
  const rounded = (_: string, value: unknown) => (typeof value === 'number' ? Math.round(value * 1000) / 1000 : value);
  writeFileSync(FILE, `${JSON.stringify(recordSchema.parse(record), rounded, 1)}\n`);
}
