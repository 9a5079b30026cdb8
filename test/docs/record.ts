// What came of the commands of the pages when they were run last: `docs/measured/commands.json`.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { projectDir } from '../../scripts/stack/parts.ts';
import { keyOf, type PageRun } from './page-runs.ts';

const recordFile = join(projectDir, 'docs/measured/commands.json');

const ranSchema = z.object({
  /** How the stack beside it was started. */
  stack: z.string().optional(),
  command: z.string(),
  exitCode: z.int(),
  /** The exit code that it should have. */
  expected: z.int(),
  /** What else was wrong: a line that was refused, a process that was left. */
  faults: z.array(z.string()),
  /** What was answered to lines by hand, which the page shows. */
  answers: z.array(z.string()),
  tookMs: z.int(),
  at: z.iso.datetime(),
  commit: z.string(),
});

const recordSchema = z.object({
  format: z.literal(1),
  runs: z.array(ranSchema),
  /** What is still to be run for the first time. A run takes out what it has run, and nothing comes in. */
  notRunYet: z.array(z.string()),
});

export type Ran = z.infer<typeof ranSchema>;

/** Which commands end with another code than 0 when all is well. */
const ENDS_WITH: [RegExp, number][] = [
  // Nobody has solved the exercises of a fresh checkout.
  [/^npm run (--silent )?workshop -- check/, 1],
  // The lock that `npm run grade -- --new` writes has the holes of stage 6, and that of the tests takes its locks in no order.
  [/npm run (grade|prove) -- (\.|test)\/\S+\.ts/, 1],
  // The two files differ.
  [/^diff /, 1],
  // What goes on until Ctrl-C: npm and curl answer so.
  [/npm run (up|live)( -- .*)?$|^curl -N /, 130],
];

export const exitCodeOf = ({ command }: PageRun): number => ENDS_WITH.find(([of]) => of.test(command))?.[1] ?? 0;

export const isAsExpected = (ran: Ran) => ran.exitCode === exitCodeOf(ran) && ran.faults.length === 0;

function read(): z.infer<typeof recordSchema> {
  if (!existsSync(recordFile)) return { format: 1, runs: [], notRunYet: [] };
  return recordSchema.parse(JSON.parse(readFileSync(recordFile, 'utf8')));
}

export const readRecord = (): Ran[] => read().runs;
export const readNotRunYet = (): string[] => read().notRunYet;

/** Puts these runs in the place of what was recorded of them before, and leaves out what no page has any more. */
export function keep(ran: Ran[], all: PageRun[]) {
  const before = read();
  const recorded = new Map([...before.runs, ...ran].map((run) => [keyOf(run), run]));
  const runs = all
    .flatMap((run) => recorded.get(keyOf(run)) ?? [])
    .map((run) => ({ ...run, expected: exitCodeOf(run) }));
  const notRunYet = before.notRunYet.filter((key) => !recorded.has(key) && all.some((run) => keyOf(run) === key));
  mkdirSync(dirname(recordFile), { recursive: true });
  writeFileSync(recordFile, `${JSON.stringify({ format: 1, runs, notRunYet }, null, 1)}\n`);
}
