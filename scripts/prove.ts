// npm run prove: looks at every order of events under a lock, and prints the matrix or the shortest counterexample.

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { problemOfName, readExternalLock } from '../loadtest/grade/external-locks.ts';
import { speak } from '../loadtest/narration/language.ts';
import { asClause } from '../loadtest/narration/numbers.ts';
import { either } from '../loadtest/narration/spoken.ts';
import {
  cellLines,
  differenceSaid,
  faultLines,
  legend,
  matrixLines,
  nameSaid,
  summaryOf,
} from '../loadtest/prove/matrix.ts';
import { type ProvableLock, plan, provable, provableLocks, scopeNames, usualLocks } from '../loadtest/prove/plan.ts';
import { inWords, isAsExpected, type Proof, type ProofCell, proofOf } from '../loadtest/prove/results.ts';
import { hanging } from '../loadtest/report/terminal.ts';
import { createRunFolder, jsonOf } from '../loadtest/run/folder.ts';
import { startProgressLine } from '../loadtest/run/progress-line.ts';
import { lockName, replicasOf, strategies } from '../locks/index.ts';
import { MOST_STATES } from '../prove/cell.ts';
import { proveAll } from '../prove/prover.ts';
import { nameOfExternalLock } from '../services/inventory/settings/external-module.ts';
import { bundledArgs } from '../stack/bundle.ts';
import { callerDir, type Given, namesAmong, newCommand, refuseName, stagesNamed } from './command-line/command.ts';
import { AS_EXPECTED, COULD_NOT_RUN, endWith, NOT_AS_EXPECTED, stopOnSignal } from './command-line/ending.ts';
import { commandLine, describeMachine } from './command-line/environment.ts';
import { languageOf } from './command-line/language.ts';

/** How many states a cell may take with --deep. */
const DEEP_STATES = 2_000_000;
/** What a name may be. */
const EITHER = 'a number from 0 to 8, a name such as fenced, or a file such as ./my-lock.ts';
/** So few counterexamples are printed whole. */
const MOST_PRINTED = 3;

const command = newCommand(
  'prove',
  ['stage', 'scope', 'processes', 'sales', 'pauses', 'delays', 'crashes', 'deep', 'states', 'json', 'reports', 'lang'],
  {
    stage: { help: 'built-in locks by number or name, such as 4,5 or fenced' },
    states: {
      help: `how many states each cell may take before it is unknown: the same on every machine (${MOST_STATES}, with --deep ${DEEP_STATES})`,
    },
  },
)
  .argument('[locks...]', 'built-in locks, such as 4, or modules that export createLock, such as ./my-lock.ts')
  .addHelpText('after', `\nThe scopes: ${scopeNames.join(', ')}`)
  .parse();
const given: Given = command.opts();
speak(languageOf(given, command));
const named = given.stage === undefined ? [] : stagesNamed(given.stage, command);
/** What is no file is a stage, by its number or name. */
const isFile = (arg: string) => /[/\\.]/.test(arg) || existsSync(resolve(callerDir, arg));
const files = command.args.filter(isFile);
const ofCourse = command.args
  .filter((arg) => !isFile(arg))
  .map((arg) => lockName(arg) ?? refuseName(command, `there is no stage ${arg}`, arg, Object.keys(strategies), EITHER));
const wantedScopes = namesAmong(scopeNames, given.scope, command, '--scope');

const stopping = stopOnSignal(new Error('stopped before the end'));
await endWith('The search could not be run', prove);

async function prove(): Promise<number> {
  const { deep, json, pauses, delays, crashes } = given;
  const locks = await wantedLocks();
  const planned = plan({
    locks: locks ?? usualLocks,
    isOfAll: locks === undefined,
    scopes: wantedScopes,
    processes: given.processes ? [given.processes] : deep ? [3] : [2, 3],
    sales: given.sales ?? (deep ? 2 : 1),
    budget: definedOf({ pauses, delays, crashes }),
    mostStates: given.states ?? (deep ? DEEP_STATES : MOST_STATES),
  });
  if (planned.length === 0) throw new Error('none of the scopes applies to these locks.');
  const progress = startProgressLine(planned.length);
  const createdAt = new Date();
  const cells = await proveAll(planned, {
    worker: await bundledArgs('prove/worker.ts'),
    signal: stopping.signal,
    onCell: (cell) => progress.advance(nameSaid(cell)),
  });
  progress.end();
  const proof = await proofOf(cells, { command: commandLine('prove'), createdAt, machine: describeMachine() });
  const { dir, write, pointAt } = createRunFolder(resolve(callerDir, given.reports), createdAt);
  write('prove.json', jsonOf(inWords(proof)));
  pointAt('latest-prove');
  if (json) process.stdout.write(jsonOf(inWords(proof)));
  else print(proof, join(dir, 'prove.json'));
  if (stopping.signal.aborted) return COULD_NOT_RUN;
  return proof.verdict === 'as-expected' && proof.cells.every(isAsExpected) ? AS_EXPECTED : NOT_AS_EXPECTED;
}

/** The locks that are named. Undefined when none is. */
async function wantedLocks(): Promise<ProvableLock[] | undefined> {
  const ofOurs = [...named, ...ofCourse].map((name) => {
    const lock = provableLocks.find(({ stage }) => stage === name);
    if (replicasOf(name) > 0) throw new Error(`${name} waits for a replica, which the search does not have.`);
    if (lock === undefined) throw new Error(`${name} keeps its lock where the search has no server.`);
    return lock;
  });
  const external = files.map(async (arg) => {
    const file = resolve(callerDir, arg);
    const problem = problemOfName(nameOfExternalLock(file), file);
    if (problem !== undefined) throw new Error(`${arg} can't be proved: ${asClause(problem)}.`);
    if (!existsSync(file)) throw new Error(`${arg} can't be proved: there is no such file.`);
    // What else is wrong with it, the search says.
    const { stage, promises } = await readExternalLock(file);
    // Who names a scope of several skus means it.
    return { ...provable({ stage, file, promises }), sellsBaskets: given.scope !== undefined };
  });
  return ofOurs.length + external.length > 0 ? [...ofOurs, ...(await Promise.all(external))] : undefined;
}

function definedOf<Values extends object>(values: Values): Partial<Values> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<Values>;
}

function print({ cells, server }: Proof, file: string) {
  const amiss = cells.filter((cell) => !isAsExpected(cell));
  const isBroken = (cell: ProofCell) => cell.expected !== null && amiss.includes(cell);
  const lines =
    cells.length > MOST_PRINTED
      ? [...matrixLines(cells), '', hanging('', legend()), summaryOf(cells, server), '', ...faultLines(amiss)]
      : cells.flatMap((cell) => [...cellLines(cell), ...(isBroken(cell) ? [differenceSaid(cell)] : []), '']);
  const all = either(`Full results: ${file}`, `全部结果：${file}`);
  process.stdout.write(`${lines.join('\n').trimEnd()}\n\n${all}\n`);
}
