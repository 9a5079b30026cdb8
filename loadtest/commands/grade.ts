// npm run grade: the search, the conformance checks, then every drill under external locks, and the report with their rows.

import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Cell } from '../../prove/cell.ts';
import { loadEnvFile } from '../../services/inventory/env-file.ts';
import { nameOfExternalLock } from '../../services/inventory/external-module.ts';
import type { DrillResult, Grade } from '../evidence/results.ts';
import { problemOfName, readExternalLock, readPeers, sourcesOf, whyNotVirtual } from '../grade/external-locks.ts';
import type { Drill } from '../harness/drill.ts';
import { faultLines, matrixLines, matrixOf, nameOfCell } from '../prove/matrix.ts';
import { plan, provable, scopeNames } from '../prove/plan.ts';
import { proveAll } from '../prove/prover.ts';
import { drills as allDrills } from '../scenarios/index.ts';
import { checkNames } from '../staircase/contract.ts';
import { allCells, STEP_WORKERS } from '../staircase/plan.ts';
import { openVirtualWorld } from '../virtual/world.ts';
import { COULD_NOT_RUN } from './ending.ts';
import { contractLines, createStaircaseNarrator } from './narrator.ts';
import { readGradeOptions } from './options.ts';
import { startProgressLine } from './progress-line.ts';
import { runCommand } from './run-command.ts';

/** npm starts its scripts in the folder of the project, wherever it was called. */
const callerDir = process.env['INIT_CWD'] || process.cwd();

loadEnvFile();
const {
  files,
  peers,
  newFile,
  baseline,
  checks,
  searchSeconds,
  virtualSettings,
  drills = allDrills,
  ...options
} = readGradeOptions(process.argv);
if (newFile !== undefined) writeTemplate(resolve(callerDir, newFile));
else await grade();

async function grade() {
  const given = files.map((file) => resolve(callerDir, file));
  const grades = [...(await Promise.all(given.map(readExternalLock))), ...(peers ? await readPeers() : [])];
  for (const { file, problem } of grades) {
    if (problem !== undefined) process.stderr.write(`${relative(callerDir, file)} can't be graded: ${problem}.\n`);
  }
  const gradable = grades.filter(({ problem }) => problem === undefined);
  const sound = gradable.map(({ stage }) => stage);
  if (sound.length === 0) {
    process.exitCode = COULD_NOT_RUN;
    return;
  }
  const own = grades.filter(({ file, problem }) => problem === undefined && given.includes(file));
  const searched = searchSeconds === 0 ? [] : await searchFirst(own, drills);
  if (searched === undefined) return;
  const contract = await contractNext(gradable, checks);
  if (contract === undefined) return;
  const lacking = virtualSettings && (await whyNotVirtual(gradable));
  if (lacking !== undefined) process.stderr.write(`${lacking} The drills run on real servers.\n`);
  const isVirtual = virtualSettings !== undefined && lacking === undefined;
  const settings = isVirtual ? virtualSettings : options.settings;
  const cells = allCells([...baseline, ...sound], drills);
  // Stacks that share one Redis would share the stock and the lock.
  const workers = process.env['REDIS_URL'] ? 1 : STEP_WORKERS;
  const narrator = createStaircaseNarrator(process.stdout, cells);
  const judged = grades.map((grade) => ({ ...grade, ...searchOf(grade, searched) }));
  await runCommand({
    ...options,
    settings,
    isVirtual,
    command: 'npm run grade',
    cells,
    workers,
    narrator,
    grades: judged,
    contract,
  });
}

/** What the search has found of this lock. Nothing when it has not looked at it. */
function searchOf({ stage }: Grade, searched: Cell[]): Pick<Grade, 'search' | 'searchUnknown'> {
  const own = searched.filter((cell) => cell.stage === stage);
  if (own.length === 0) return {};
  const verdictsIn = (scope: string) => own.flatMap((cell) => (cell.scope === scope ? [cell.verdict] : []));
  const scopes = [...new Set(own.map(({ scope }) => scope))];
  const unknown = scopes.filter((scope) => verdictsIn(scope).every((verdict) => verdict === 'unknown'));
  return {
    search: scopes.filter((scope) => verdictsIn(scope).includes('fails')),
    ...(unknown.length > 0 && { searchUnknown: unknown }),
  };
}

/**
 * Looks at every order of events under these locks, in the scopes that have the names of the drills, and prints what it finds. Resolves
 * with its cells, and with undefined when it was interrupted.
 */
async function searchFirst(locks: Grade[], drills: Drill[]): Promise<Cell[] | undefined> {
  const names =
    drills.length === allDrills.length
      ? scopeNames
      : scopeNames.filter((name) => drills.some((drill) => drill.name === name));
  const wanted = { locks: locks.map(provable), scopes: names };
  const planned = plan({ ...wanted, processes: [2, 3], sales: 1, budget: {} });
  if (planned.length === 0) return [];
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  if (!options.prints) process.stdout.write('Every order of events (npm run prove):\n\n');
  const progress = startProgressLine(planned.length);
  const onCell = (cell: Cell) => progress.advance(nameOfCell(cell));
  const cells = await proveAll(planned, { seconds: searchSeconds, signal: stopping.signal, onCell });
  progress.end();
  process.off('SIGINT', stop).off('SIGTERM', stop);
  if (!options.prints)
    process.stdout.write(`${[...matrixLines(matrixOf(cells)), '', ...faultLines(cells, isSound)].join('\n')}\n\n`);
  if (!stopping.signal.aborted) return cells;
  process.exitCode = COULD_NOT_RUN;
  return undefined;
}

/**
 * Puts these locks through the conformance checks, and prints what they find. Resolves with the results by lock, and with undefined
 * when it was interrupted.
 */
async function contractNext(grades: Grade[], names: string[]): Promise<Map<string, DrillResult[]> | undefined> {
  const results = new Map<string, DrillResult[]>();
  if (names.length === 0) return results;
  const world = openVirtualWorld({ settings: options.settings, locks: sourcesOf(grades) });
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  stopping.signal.addEventListener('abort', world.close);
  if (!options.prints) process.stdout.write('The contract, without load:\n');
  const cells = grades.flatMap(({ stage }) => names.map((name) => ({ stage, drill: { name } })));
  const progress = startProgressLine(cells.length);
  await Promise.all(Array.from({ length: availableParallelism() }, (_, place) => work(place)));
  progress.end();
  world.close();
  process.off('SIGINT', stop).off('SIGTERM', stop);
  for (const [stage, found] of results) {
    found.sort((one, other) => checkNames.indexOf(one.drill) - checkNames.indexOf(other.drill));
    if (!options.prints) process.stdout.write(`${contractLines(stage, found).join('\n')}\n`);
  }
  if (!options.prints) process.stdout.write('\n');
  if (!stopping.signal.aborted) return results;
  process.exitCode = COULD_NOT_RUN;
  return undefined;

  async function work(place: number) {
    for (let cell = cells.shift(); cell && !stopping.signal.aborted; cell = cells.shift()) {
      const { stage, drill } = cell;
      const startedAt = performance.now();
      const { outcome } = await world.play(cell, {}, place);
      const { events: _, nothingToBreak: __, ...judged } = outcome;
      const durationMs = Math.round(performance.now() - startedAt);
      results.set(stage, [...(results.get(stage) ?? []), { drill: drill.name, taught: null, ...judged, durationMs }]);
      progress.advance(`${stage} · ${drill.name}`);
    }
  }
}

function isSound({ verdict }: Cell) {
  return verdict === 'holds';
}

/** Writes a lock that works, to be changed. Never over a file that is there. */
function writeTemplate(file: string) {
  const template = readFileSync(new URL('../grade/my-lock-template.ts', import.meta.url), 'utf8');
  const lockFile = fileURLToPath(new URL('../../locks/lock.ts', import.meta.url));
  const path = relative(dirname(file), lockFile);
  const text = template.replace('../../locks/lock.ts', path.startsWith('.') ? path : `./${path}`);
  const problem = problemOfName(nameOfExternalLock(file), file);
  try {
    if (problem !== undefined) throw new Error(problem);
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'it is there already, and is left as it is' : message;
    process.stderr.write(`${file} can't be written: ${why}.\n`);
    process.exitCode = COULD_NOT_RUN;
    return;
  }
  process.stdout.write(`${file} is a lock that works. Change it, and grade it:\n\n`);
  const shown = relative(callerDir, file);
  process.stdout.write(`npm run grade -- ${shown.startsWith('.') ? shown : `./${shown}`}\n`);
}
