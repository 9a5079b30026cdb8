// npm run known-bugs: puts each lock with a known bug through contract, drills and search, and writes which of them catches it.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Command, InvalidArgumentError } from 'commander';
import { stopOnSignal } from '../../loadtest/commands/ending.ts';
import type { Proof, ProofCell } from '../../loadtest/evidence/proof.ts';
import type { DrillResult, Results } from '../../loadtest/evidence/results.ts';
import { dismissReaper, makeTempDir, projectDir } from '../../scripts/stack/parts.ts';
import { controls, knownBugs, promisesOf } from './bugs.ts';
import { type LockToGrade, writeKnownBug } from './known-bug.ts';
import { renderPage } from './page.ts';
import { type Fault, type Record, type Row, recordSchema } from './record.ts';

const COULD_NOT_RUN = 2;
/** How long the search may take for one lock, in seconds. */
const SEARCH_SECONDS = 12;
/** How many locks go through the drills together. */
const AT_A_TIME = 7;
/** Room for the results of these, in bytes. */
const MAX_OUTPUT = 500e6;

const recordFile = join(projectDir, 'docs/measured/known-bugs.json');
const pageFile = join(projectDir, 'docs/known-bugs.md');
const all = [...controls, ...knownBugs];

const { only, page } = new Command('npm run known-bugs --')
  .description('Puts each lock with a known bug through contract, drills and search, and writes docs/known-bugs.md.')
  .option('--only <names>', 'some of them, with commas between them; the others stay as they were recorded', named, all)
  .option('--page', 'write the page from what was recorded, and run nothing', false)
  .allowExcessArguments(false)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : COULD_NOT_RUN))
  .parse()
  .opts<{ only: LockToGrade[]; page: boolean }>();

const stopping = new AbortController();
stopOnSignal(stopping, new Error('stopped before the end'));
const run = promisify(execFile);
const node = [process.execPath, '--disable-warning=ExperimentalWarning', '--import', 'tsx'] as const;

try {
  if (!page) await record();
  writeFileSync(pageFile, renderPage(readRecord()));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = COULD_NOT_RUN;
}
await dismissReaper();

/** Runs some locks at a time, and keeps their rows as soon as they are there. */
async function record() {
  const { dir, remove } = makeTempDir();
  try {
    for (let at = 0; at < only.length; at += AT_A_TIME) {
      const startedAt = performance.now();
      const bugs = only.slice(at, at + AT_A_TIME);
      keep(await judge(bugs, dir));
      const names = bugs.map(({ name }) => name).join(', ');
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      process.stdout.write(`[${at + bugs.length}/${only.length}] ${names}: ${seconds} s\n`);
    }
  } finally {
    remove();
  }
}

/** Puts these rows in the place of those that were recorded before. */
function keep({ rows, results }: { rows: Row[]; results: Results }) {
  const { node, os, cpus, redis, nginx, commit } = results.environment;
  const servers = `${redis.kind} ${redis.version}, nginx ${nginx}`;
  const before = existsSync(recordFile) ? readRecord().rows : [];
  const others = before.filter(({ name }) => !rows.some((row) => row.name === name));
  const place = (each: Row) => all.findIndex(({ name }) => name === each.name);
  const sorted = [...others, ...rows].filter((row) => place(row) >= 0).toSorted((a, b) => place(a) - place(b));
  const record: Record = { format: 1, createdAt: results.startedAt, node, os, cpus, servers, commit, rows: sorted };
  mkdirSync(dirname(recordFile), { recursive: true });
  writeFileSync(recordFile, `${JSON.stringify(record, null, 2)}\n`);
}

async function judge(bugs: LockToGrade[], dir: string): Promise<{ rows: Row[]; results: Results }> {
  const files = bugs.map((bug) => writeKnownBug(bug, promisesOf(bug), dir));
  const reports = ['--reports', join(dir, 'reports')];
  const grade = await output('loadtest/commands/grade.ts', [
    ...files,
    '--baseline',
    'none',
    '--seconds',
    '0',
    '--json',
    ...reports,
  ]);
  const results: Results = JSON.parse(grade);
  const seconds = ['--seconds', String(bugs.length * SEARCH_SECONDS)];
  const proof = await output('loadtest/commands/prove.ts', [...files, '--json', ...seconds, ...reports]);
  const { cells }: Proof = JSON.parse(proof);
  return { results, rows: bugs.map(({ name }) => rowFrom(name, results, cells)) };
}

function rowFrom(name: string, results: Results, allCells: ProofCell[]): Row {
  const drills = results.stages.find(({ stage }) => stage === name)?.drills ?? [];
  const { doesNotPromise = {} } = results.grades?.find(({ stage }) => stage === name) ?? {};
  const excuse = (cell: string) => doesNotPromise[cell] !== undefined && { notPromised: doesNotPromise[cell] };
  const faults = (isMeant: (result: DrillResult) => boolean): Fault[] =>
    drills.filter(isMeant).flatMap(({ drill, verdict, reasons }) => {
      if (verdict !== 'fail' && verdict !== 'unknown') return [];
      return [{ name: drill, verdict, reason: reasons.join(' '), ...excuse(drill) }];
    });
  const isOfContract = ({ drill }: DrillResult) => drill.startsWith('contract-');
  const own = allCells.filter(({ stage }) => stage === name);
  const failed = own.filter(({ verdict }) => verdict === 'fails');
  const search = [...new Set(failed.map(({ scope }) => scope))].map((scope): Fault => {
    const reason = failed.find((cell) => cell.scope === scope)?.reason ?? '';
    return { name: scope, verdict: 'fail', reason, ...excuse(scope) };
  });
  const cells = drills.filter(({ verdict }) => verdict !== 'not-applicable').length + own.length;
  return { name, cells, contract: faults(isOfContract), drills: faults((one) => !isOfContract(one)), search };
}

/** What a command prints. Its exit code says what the lock is worth, and is no error here. */
async function output(script: string, args: string[]): Promise<string> {
  const [file, ...flags] = node;
  const options = { cwd: projectDir, maxBuffer: MAX_OUTPUT, signal: stopping.signal, killSignal: 'SIGINT' as const };
  try {
    return (await run(file, [...flags, script, ...args], options)).stdout;
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (code === 1 && stdout) return stdout;
    throw stopping.signal.aborted
      ? stopping.signal.reason
      : new Error(`${script} ${args.join(' ')}: ${stderr ?? error}`);
  }
}

function readRecord(): Record {
  return recordSchema.parse(JSON.parse(readFileSync(recordFile, 'utf8')));
}

/** Throws InvalidArgumentError. */
function named(names: string): LockToGrade[] {
  return names.split(',').map((name) => {
    const bug = all.find((each) => each.name === name.trim());
    if (bug === undefined)
      throw new InvalidArgumentError(`There is no ${name}: ${all.map((each) => each.name).join(', ')}.`);
    return bug;
  });
}
