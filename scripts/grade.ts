// npm run grade: runs the conformance checks, the model checker and every drill for external locks, and prints the verdict.

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkNamed } from '../loadtest/conformance/checks.ts';
import type { Grade } from '../loadtest/evidence/results.ts';
import { problemOfName, readExternalLock, readPeers } from '../loadtest/grade/external-locks.ts';
import { type Library, readPublished } from '../loadtest/grade/libraries.ts';
import { speak } from '../loadtest/narration/language.ts';
import { asClause } from '../loadtest/narration/numbers.ts';
import { either } from '../loadtest/narration/spoken.ts';
import { nameSaid } from '../loadtest/prove/matrix.ts';
import { plan, provable, scopeNames } from '../loadtest/prove/plan.ts';
import { searchSaid, stepsSaid } from '../loadtest/prove/said.ts';
import { createGradeNarrator } from '../loadtest/run/narrator.ts';
import { startProgressLine } from '../loadtest/run/progress-line.ts';
import { allCells } from '../loadtest/run/tracks.ts';
import { drills as allDrills } from '../loadtest/scenarios/index.ts';
import { SEEDED_ORDERS } from '../loadtest/staircase/conformance.ts';
import { type Cell, MOST_STATES } from '../prove/cell.ts';
import { proveAll } from '../prove/prover.ts';
import { loadEnvFile } from '../services/inventory/settings/env-file.ts';
import { nameOfExternalLock } from '../services/inventory/settings/external-module.ts';
import { bundledArgs } from '../stack/bundle.ts';
import { callOf } from '../stack/call-of.ts';
import { isInstalled } from '../stack/parts.ts';
import { callerDir } from './command-line/command.ts';
import { COULD_NOT_RUN } from './command-line/ending.ts';
import { runCommand } from './command-line/run-command.ts';
import { readGradeOptions } from './command-line/run-options.ts';

loadEnvFile();
const {
  files,
  libraries,
  lock,
  allLibraries,
  newFile,
  baseline,
  checks,
  mostStates = MOST_STATES,
  drills = allDrills,
  ...options
} = readGradeOptions(process.argv);
speak(options.language);
if (newFile !== undefined) writeTemplate(resolve(callerDir, newFile));
else await grade();

async function grade() {
  const given = files.map((file) => resolve(callerDir, file));
  // The adapters are TypeScript, and this process runs from a bundle.
  if (allLibraries) (await import('tsx/esm/api')).register();
  const packaged = (
    await Promise.all(libraries.map((library) => readPublished(library, { caller: callerDir }, lock)))
  ).flat();
  const grades: Library[] = [
    ...(await Promise.all(given.map(readExternalLock))),
    ...packaged,
    ...(allLibraries ? await readPeers() : []),
  ];
  for (const { file, problem } of grades) {
    if (problem !== undefined)
      process.stderr.write(
        `${isAbsolute(file) ? relative(callerDir, file) : file} can't be graded: ${asClause(problem)}.\n`,
      );
  }
  for (const { proposal } of packaged) if (proposal !== undefined) process.stderr.write(`${proposal}\n`);
  const gradable = grades.filter(({ problem }) => problem === undefined);
  const rows = gradable.map(({ stage }) => stage);
  if (rows.length === 0) {
    process.exitCode = COULD_NOT_RUN;
    return;
  }
  // The table of the libraries has their checks alone.
  const isTable = options.prints === 'markdown';
  const own = gradable.filter(({ file }) => given.includes(file));
  // What the search can't look at is looked at in as many orders as there is time for.
  const asked = isTable ? checks.filter((name) => name !== 'contract-long-sequences') : checks;
  const checksOf = (grade: Grade) => (own.includes(grade) ? asked : [...asked, SEEDED_ORDERS]);
  const checked = gradable.flatMap((grade) =>
    checksOf(grade).map((name) => ({ stage: grade.stage, drill: checkNamed(name) })),
  );
  const played = isTable ? [] : allCells([...baseline, ...rows], drills);
  const isOfOurs = ({ stage }: { stage: string }) => baseline.includes(stage);
  // The checks take longest: what is short comes last, so that no worker waits for another.
  const cells = [...played.filter(isOfOurs), ...checked, ...played.filter((cell) => !isOfOurs(cell))];
  await runCommand({
    ...options,
    command: 'grade',
    search: (signal) => searchAll(isTable ? [] : own, signal),
    searchSaid: scopesOf,
    cells,
    narrator: createGradeNarrator(process.stdout, cells, !options.isVirtual),
    grades,
  });
}

/** Runs the model checker for these locks, in the fault models named like the selected drills. */
async function searchAll(locks: Grade[], signal: AbortSignal) {
  const isAsked = (name: string) => drills.length === allDrills.length || drills.some((drill) => drill.name === name);
  const wanted = { locks: locks.map(provable), scopes: scopeNames.filter(isAsked) };
  const all = mostStates === 0 ? [] : plan({ ...wanted, processes: [2, 3], sales: 1, budget: {}, mostStates });
  // What is known of two processes is looked at with three as far as a tenth of the states goes.
  const planned = all.map((task) =>
    all.some((one) => one.stage === task.stage && one.scope === task.scope && one.processes < task.processes)
      ? { ...task, mostStates: Math.ceil(mostStates / 10) }
      : task,
  );
  const progress = startProgressLine(planned.length);
  const onCell = (cell: Cell) => progress.advance(nameSaid(cell));
  const worker = await bundledArgs('prove/worker.ts');
  const cells = await proveAll(planned, { worker, signal, onCell });
  progress.end();
  return new Map(planned.map(({ stage }) => [stage, cells.filter((cell) => cell.stage === stage)]));
}

/** One result per fault model: the fewest processes with which it fails, else the most with which it holds. */
function scopesOf(cells: Cell[]): NonNullable<Grade['search']> {
  return [...new Set(cells.map(({ scope }) => scope))].flatMap((name) => {
    const all = cells.filter(({ scope }) => scope === name);
    const cell =
      all.find(({ verdict }) => verdict === 'fails') ?? all.findLast(({ verdict }) => verdict === 'holds') ?? all[0];
    if (cell === undefined) return [];
    const { scope, verdict, why, processes, counterexample = [] } = cell;
    const under = either(
      `In every interleaving of up to ${processes} processes (${faultsOf(cell)})`,
      `至多 ${processes} 个进程的所有交错（${faultsOf(cell)}）`,
    );
    return [{ scope, verdict, reason: searchSaid(why), under, steps: stepsSaid(counterexample) }];
  });
}

/** `no fault`, or how often each fault may happen, as in `hang ups: 1`. */
function faultsOf({ budget }: Cell): string {
  const inChinese: Record<string, string> = {
    pauses: '停顿',
    delays: '命令滞留',
    crashes: '宕机',
    hangUps: '断开连接',
    failovers: '主从切换',
    freezes: '主节点卡死',
    lateVotes: '选票滞留',
    restarts: '主节点重启',
    clockJumps: '时钟跳变',
  };
  const faults = Object.entries(budget).filter(([, times]) => times > 0);
  const inWords = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  const said = faults.map(([name, times]) =>
    either(`${inWords(name)}: ${times}`, `${inChinese[name] ?? name} ${times} 次`),
  );
  return said.join(either(', ', '，')) || either('no fault', '没有故障');
}

/** Writes a working lock to start from. Never overwrites a file. */
function writeTemplate(file: string) {
  const template = readFileSync(new URL('../loadtest/grade/my-lock-template.ts', import.meta.url), 'utf8');
  const lockFile = fileURLToPath(new URL('../locks/lock.ts', import.meta.url));
  const path = relative(dirname(file), lockFile);
  const contract = isInstalled ? 'lockstep' : path.startsWith('.') ? path : `./${path}`;
  const text = template.replace('../../locks/lock.ts', contract);
  const problem = problemOfName(nameOfExternalLock(file), file);
  try {
    if (problem !== undefined) throw new Error(problem);
    writeFileSync(file, text, { flag: 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'it already exists' : message;
    process.stderr.write(`${file} can't be written: ${why}.\n`);
    process.exitCode = COULD_NOT_RUN;
    return;
  }
  process.stdout.write(`Wrote ${file}, a working lock. Change it, then grade it:\n\n`);
  const shown = relative(callerDir, file);
  process.stdout.write(`${callOf('grade', shown.startsWith('.') ? shown : `./${shown}`)}\n`);
}
