// npm run verdicts: records every drill under the published locks, and makes the pages of docs/verdicts/ of what was recorded.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { projectDir } from '../../scripts/stack/parts.ts';
import { loadEnvFile } from '../../services/inventory/env-file.ts';
import { drills as allDrills } from '../drills/index.ts';
import { formatDuration } from '../evidence/numbers.ts';
import type { DrillResult, Grade } from '../evidence/results.ts';
import { type LockRecord, type Verdicts, verdictsSchema } from '../evidence/verdicts.ts';
import { runContract } from '../grade/contract/contract.ts';
import { openContractServers } from '../grade/contract/contract-servers.ts';
import { modulesOf, readPeers } from '../grade/external-locks.ts';
import { notPromisedBy } from '../grade/not-promised.ts';
import type { Cell, DrillSettings } from '../harness/drill.ts';
import { createTargets, type Targets } from '../harness/targets.ts';
import { loadPeer, peerNames, peers, versionOfPeer } from '../peers/peer.ts';
import { plan, provable, scopeNames } from '../prove/plan.ts';
import { proveAll } from '../prove/prover.ts';
import { proofOf } from '../prove/results.ts';
import { checkNames } from '../staircase/contract.ts';
import { columnNames } from '../staircase/lookup.ts';
import { allCells, STEP_WORKERS } from '../staircase/plan.ts';
import { countCommands } from '../verdicts/count-commands.ts';
import { verdictPage } from '../verdicts/page.ts';
import { indexPage, withShortTable } from '../verdicts/tables.ts';
import { AS_TAUGHT, COULD_NOT_RUN, exitWhenWritten, NOT_AS_TAUGHT, runToEnd, stopOnSignal } from './ending.ts';
import { describeEnvironment } from './environment.ts';
import { createStaircaseNarrator, type Narrator, silentNarrator } from './narrator.ts';
import { namesAmong } from './options.ts';
import { Interrupted, runCells } from './run.ts';
import { createRunFolder } from './run-folder.ts';

/** The run of which the pages are made. */
const RECORDED = join(projectDir, 'docs/measured/verdicts.json');
const PAGES = join(projectDir, 'docs/verdicts');
/** The documents that show the short table, and where the pages are from there. */
const WITH_TABLE: Record<string, string> = { 'docs/choosing.md': 'verdicts' };
/** How often a cell that tells nothing is run again, by itself. */
const MORE_TRIES = 2;
/** How long the search may take for each lock, in seconds. */
const SEARCH_SECONDS = 60;
const settings: DrillSettings = { requests: 2_000, connections: 100, stock: 5_000, units: 1_000, leaseMs: 1_000 };

loadEnvFile();
const command = new Command('npm run verdicts --')
  .description(
    'Records every drill under the published locks, and makes their pages. Nothing else should run meanwhile.',
  )
  .option(
    '--only <names>',
    `some of them, the others stay as they were recorded: ${peerNames.join(', ')}`,
    (value: string) => namesAmong(peerNames, value),
    peerNames,
  )
  .option('--pages', 'make the pages alone, of what was recorded last', false)
  .option(
    '--drill <drills>',
    'some drills again, the other cells stay as they were recorded',
    (value: string) => value.split(',').map(drillNamed),
    undefined,
  )
  .option('--reports <folder>', 'where the events go', join(projectDir, 'reports'))
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : COULD_NOT_RUN))
  .parse();

interface Given {
  only: string[];
  pages: boolean;
  drill?: typeof allDrills;
  reports: string;
}
const given = command.opts<Given>();
const drills = given.drill ?? allDrills;
const stopping = new AbortController();
const { signal } = stopping;
const say = (line: string) => void process.stdout.write(`${line}\n`);

stopOnSignal(stopping, new Interrupted());
process.exitCode = await runToEnd('The verdicts could not be recorded', given.pages ? makePages : record);
// A lock may have left a timer or a connection behind.
await exitWhenWritten();

/** Records one lock after the other; what was recorded is kept when the run is interrupted. Resolves with the exit code. */
async function record(): Promise<number> {
  const startedAt = performance.now();
  let unknown = 0;
  for (const [at, name] of given.only.entries()) {
    const spent = formatDuration(performance.now() - startedAt);
    say(`\n[${at + 1}/${given.only.length}] ${name} ${versionOfPeer(name)}   (${spent} so far)\n`);
    const recorded = await recordLock(name).catch((error: Error) => {
      if (signal.aborted) throw error;
      say(`  ${error.message}\n  Once more from the beginning.\n`);
      return recordLock(name);
    });
    if (signal.aborted || recorded === undefined) return COULD_NOT_RUN;
    unknown += recorded.drills.filter(({ verdict }) => verdict === 'unknown').length;
    keep(recorded);
  }
  await makePages();
  say(`\nRecorded in ${formatDuration(performance.now() - startedAt)}.`);
  return unknown === 0 ? AS_TAUGHT : NOT_AS_TAUGHT;
}

/** Resolves with undefined when it was interrupted. */
async function recordLock(name: string): Promise<LockRecord | undefined> {
  const recordedAt = new Date();
  const before = given.drill && readRecorded().locks.find((lock) => lock.name === name);
  const [grade] = await readPeers([name]);
  if (grade === undefined) throw new Error(`There is no published lock ${name}.`);
  const { stage } = grade;
  const { otherLeases = [] } = await loadPeer(name);
  const folder = createRunFolder(given.reports, recordedAt);
  const targets = createTargets({
    modules: modulesOf([grade]),
    onDeath: (sentence) => stopping.abort(new Error(sentence)),
  });

  try {
    const { redis, nginx, backends } = await targets.open('load', 0, stage);
    const row = await runDrills(allCells([stage], drills), settings, targets);
    const others: LockRecord['otherLeases'] = [];
    for (const { leaseMs, drills: names } of otherLeases) {
      const cells = drills.filter((drill) => names.includes(drill.name)).map((drill) => ({ stage, drill }));
      for (const drill of await runDrills(cells, { ...settings, leaseMs }, targets))
        others.push({ leaseMs, drill: asKept(drill) });
    }
    await targets.close();
    if (signal.aborted) return undefined;

    const words = await wordsOf(name);
    if (before) return { ...withCells(before, row.map(asKept), others), ...words };
    say('\n  The contract.');
    const contract = await contractOf(grade);
    say('  Counting its commands.');
    const commands = await countCommands(name, signal);
    say('  Looking at every order of events.');
    const search = await searchOf(grade);
    const { onNpm, lock } = peers[name] as (typeof peers)[string];
    return {
      name,
      library: onNpm,
      version: versionOfPeer(name),
      ...(lock !== undefined && { lock }),
      stage,
      recordedAt: recordedAt.toISOString(),
      environment: describeEnvironment({ redis, nginx, backends }),
      settings,
      ...words,
      drills: [...contract, ...row].map(asKept),
      otherLeases: others,
      commands,
      search,
    };
  } finally {
    await targets.close();
  }

  /** The row, in the order of the columns. */
  async function runDrills(cells: Cell[], settings: DrillSettings, targets: Targets): Promise<DrillResult[]> {
    const run = async (cells: Cell[], workers: number, narrator: Narrator) => {
      if (cells.length === 0) return [];
      const { stages } = await runCells({ cells, workers, targets, settings, signal, narrator, folder });
      return stages.flatMap(({ drills }) => drills);
    };
    const row = await run(
      cells,
      STEP_WORKERS,
      createStaircaseNarrator(process.stdout, cells, { workers: STEP_WORKERS }),
    );
    const cellsOf = (names: string[]) => cells.filter(({ drill }) => names.includes(drill.name));
    return untilKnown(row, (names) => run(cellsOf(names), 1, silentNarrator));
  }
}

/** Runs again, by itself, what told nothing: `run` is given its names. */
async function untilKnown(
  results: DrillResult[],
  run: (names: string[]) => Promise<DrillResult[]>,
): Promise<DrillResult[]> {
  let known = results;
  for (let more = 0; more < MORE_TRIES && !signal.aborted; more += 1) {
    const open = known.filter(({ verdict }) => verdict === 'unknown').map(({ drill }) => drill);
    if (open.length === 0) break;
    say(`  Again, by themselves: ${open.join(', ')}.`);
    const again = await run(open);
    known = known.map((result) => again.find(({ drill }) => drill === result.drill) ?? result);
  }
  return known;
}

/** What is said of a lock, and not measured. */
async function wordsOf(name: string) {
  const { claims, promises, options, doesNotPromise, because = {} } = await loadPeer(name);
  return { claims, promises, options, doesNotPromise: { ...notPromisedBy(promises), ...doesNotPromise }, because };
}

/** The record with these cells in the place of those that it had. */
function withCells(before: LockRecord, row: DrillResult[], others: LockRecord['otherLeases']): LockRecord {
  const isAgain = (drill: DrillResult) => row.some((cell) => cell.drill === drill.drill);
  const drills = [...before.drills.filter((cell) => !isAgain(cell)), ...row];
  const otherLeases = [...before.otherLeases.filter(({ drill }) => !isAgain(drill)), ...others];
  return { ...before, drills: inOrder(drills), otherLeases };
}

function inOrder(drills: DrillResult[]): DrillResult[] {
  const place = ({ drill }: DrillResult) => columnNames.indexOf(drill);
  return drills.toSorted((a, b) => place(a) - place(b));
}

/** What holds needs no timeline, and no page shows the stock of a rush. */
function asKept({ timeline, ...result }: DrillResult): DrillResult {
  const isTold = timeline !== undefined && result.verdict === 'fail';
  return { ...result, ...(isTold && { timeline: rounded(timeline) }), stockOverTime: [] };
}

/** Thousandths of a millisecond tell nothing. */
function rounded<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_, each) => (typeof each === 'number' ? Math.round(each * 10) / 10 : each));
}

/** The contract, in the order of its checks. */
async function contractOf({ stage, file }: Grade): Promise<DrillResult[]> {
  const servers = openContractServers();
  const run = (names: string[]) => runContract(servers, { stage, lock: { file }, names, signal });
  try {
    return await untilKnown(await run(checkNames), run);
  } finally {
    await servers.close();
  }
}

async function searchOf(grade: Grade): Promise<LockRecord['search']> {
  const wanted = { locks: [provable(grade)], scopes: scopeNames, processes: [2], sales: 1, budget: {}, isSplit: false };
  const cells = await proveAll(plan(wanted), { seconds: SEARCH_SECONDS, signal, onCell() {} });
  const { server, cells: known } = await proofOf({ command: 'npm run verdicts', createdAt: new Date(), cells });
  // What can't be read can't be read in any scope.
  const [, problem] = /(?:can't be proved: |^(?=The lock uses ))(.*)\.$/.exec(known[0]?.reason ?? '') ?? [];
  return problem === undefined ? { server, cells: known } : { server, cells: [], problem };
}

function readRecorded(): Verdicts {
  if (!existsSync(RECORDED)) return { format: 1, locks: [] };
  return verdictsSchema.parse(JSON.parse(readFileSync(RECORDED, 'utf8')));
}

/** Puts what was recorded of a lock in the place of what was recorded before. */
function keep(recorded: LockRecord) {
  const all = [...readRecorded().locks.filter(({ name }) => name !== recorded.name), recorded];
  const place = ({ name }: LockRecord) => peerNames.indexOf(name);
  const locks = all.filter((each) => place(each) !== -1).toSorted((a, b) => place(a) - place(b));
  mkdirSync(join(projectDir, 'docs/measured'), { recursive: true });
  writeFileSync(RECORDED, `${JSON.stringify(verdictsSchema.parse({ format: 1, locks }), null, 1)}\n`);
}

/** Makes all pages anew of what was recorded and is said now, and the tables of the other documents. */
async function makePages(): Promise<number> {
  for (const lock of readRecorded().locks) keep({ ...lock, ...(await wordsOf(lock.name)) });
  const verdicts = readRecorded();
  mkdirSync(PAGES, { recursive: true });
  for (const file of readdirSync(PAGES)) rmSync(join(PAGES, file));
  writeFileSync(join(PAGES, 'README.md'), indexPage(verdicts));
  for (const lock of verdicts.locks) writeFileSync(join(PAGES, `${lock.name}.md`), verdictPage(lock));
  for (const [file, pages] of Object.entries(WITH_TABLE)) {
    const path = join(projectDir, file);
    writeFileSync(path, withShortTable(readFileSync(path, 'utf8'), verdicts, pages));
  }
  say(`\n${verdicts.locks.length + 1} pages in docs/verdicts are made of docs/measured/verdicts.json.`);
  return AS_TAUGHT;
}

function drillNamed(name: string) {
  const drill = allDrills.find((drill) => drill.name === name);
  if (drill === undefined) throw new InvalidArgumentError(`There is no drill ${name}.`);
  return drill;
}
