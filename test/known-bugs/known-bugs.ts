// npm run known-bugs: puts each lock with a known bug through contract, drills and search, and writes which of them catches it.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Command, InvalidArgumentError } from 'commander';
import { stopOnSignal } from '../../loadtest/commands/ending.ts';
import type { Proof } from '../../loadtest/evidence/proof.ts';
import type { DrillResult, Results } from '../../loadtest/evidence/results.ts';
import { dismissReaper, makeTempDir, projectDir } from '../../scripts/stack/parts.ts';
import { controls, knownBugs, promisesOf } from './bugs.ts';
import { type LockToGrade, writeKnownBug } from './known-bug.ts';
import { renderPage } from './page.ts';
import { type Fault, type Record, type Row, recordSchema } from './record.ts';

const COULD_NOT_RUN = 2;
/** How long the search may take for one lock, in seconds. */
const SEARCH_SECONDS = 20;
/** Room for the results of one lock, in bytes. */
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

/** Runs one lock after the other, and keeps each as soon as it is there. */
async function record() {
  const { dir, remove } = makeTempDir();
  try {
    for (const [index, bug] of only.entries()) {
      const startedAt = performance.now();
      const { row, results } = await judge(bug, dir);
      const { node, os, cpus, redis, nginx, commit } = results.environment;
      const servers = `${redis.kind} ${redis.version}, nginx ${nginx}`;
      const kept = existsSync(recordFile) ? readRecord().rows.filter(({ name }) => name !== bug.name) : [];
      const order = (each: Row) => all.findIndex(({ name }) => name === each.name);
      const rows = [...kept, row].filter((each) => order(each) >= 0).toSorted((a, b) => order(a) - order(b));
      const record: Record = { format: 1, createdAt: results.startedAt, node, os, cpus, servers, commit, rows };
      mkdirSync(dirname(recordFile), { recursive: true });
      writeFileSync(recordFile, `${JSON.stringify(record, null, 2)}\n`);
      const count = ({ contract, drills, search }: Row) => `${contract.length} + ${drills.length} + ${search.length}`;
      const seconds = Math.round((performance.now() - startedAt) / 1000);
      process.stdout.write(`[${index + 1}/${only.length}] ${bug.name}: ${count(row)} cells fail, ${seconds} s\n`);
    }
  } finally {
    remove();
  }
}

async function judge(bug: LockToGrade, dir: string): Promise<{ row: Row; results: Results }> {
  const file = writeKnownBug(bug, promisesOf(bug), dir);
  const reports = ['--reports', join(dir, 'reports')];
  const grade = await output('loadtest/commands/grade.ts', [file, '--baseline', 'none', '--json', ...reports]);
  const results: Results = JSON.parse(grade);
  const seconds = ['--seconds', String(SEARCH_SECONDS)];
  const proof: Proof = JSON.parse(await output('loadtest/commands/prove.ts', [file, '--json', ...seconds, ...reports]));
  const drills = results.stages.find(({ stage }) => stage === bug.name)?.drills ?? [];
  const { doesNotPromise = {} } = results.grades?.find(({ stage }) => stage === bug.name) ?? {};
  const faults = (isMeant: (result: DrillResult) => boolean): Fault[] =>
    drills.filter(isMeant).flatMap(({ drill: name, verdict, reasons }) => {
      if (verdict !== 'fail' && verdict !== 'unknown') return [];
      const notPromised = doesNotPromise[name];
      return [{ name, verdict, reason: reasons.join(' '), ...(notPromised !== undefined && { notPromised }) }];
    });
  const isOfContract = ({ drill }: DrillResult) => drill.startsWith('contract-');
  const scopes = [...new Set(proof.cells.filter(({ verdict }) => verdict === 'fails').map(({ scope }) => scope))];
  const search = scopes.map((name): Fault => {
    const cell = proof.cells.find(({ scope, verdict }) => scope === name && verdict === 'fails');
    const notPromised = doesNotPromise[name];
    return { name, verdict: 'fail', reason: cell?.reason ?? '', ...(notPromised !== undefined && { notPromised }) };
  });
  const cells = drills.filter(({ verdict }) => verdict !== 'not-applicable').length + proof.cells.length;
  const contract = faults(isOfContract);
  return { row: { name: bug.name, cells, contract, drills: faults((one) => !isOfContract(one)), search }, results };
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
