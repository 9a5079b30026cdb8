// Runs cells for a command, from the first stack to the report.

import { availableParallelism } from 'node:os';
import { type Grade, type Results, resultsSchema } from '../../loadtest/evidence/results.ts';
import { modulesOf, sourcesOf } from '../../loadtest/grade/external-locks.ts';
import type { Cell } from '../../loadtest/harness/drill.ts';
import { speaking } from '../../loadtest/narration/language.ts';
import { answerOf, worstOf } from '../../loadtest/report/grades.ts';
import { renderTables } from '../../loadtest/report/markdown.ts';
import { renderPage } from '../../loadtest/report/page.ts';
import { Interrupted, runCells } from '../../loadtest/run/cells.ts';
import { createRunFolder, jsonOf } from '../../loadtest/run/folder.ts';
import { createCountingNarrator, type Narrator, type Servers } from '../../loadtest/run/narrator.ts';
import { judgeRun } from '../../loadtest/staircase/judge-run.ts';
import { isExternal, rowOf } from '../../loadtest/staircase/lookup.ts';
import { createTargets } from '../../loadtest/worlds/real/targets.ts';
import { realWorld } from '../../loadtest/worlds/real/world.ts';
import { simulatedWorld } from '../../loadtest/worlds/simulated/world.ts';
import type { Cell as ProvedCell } from '../../prove/cell.ts';
import type { CommandName } from './command.ts';
import { AS_EXPECTED, COULD_NOT_RUN, endWith, NOT_AS_EXPECTED, stopOnSignal } from './ending.ts';
import { commandLine, describeMachine } from './environment.ts';
import type { RunSettings } from './run-options.ts';

export interface RunCommandOptions extends RunSettings {
  command: CommandName;
  /** Conformance checks among them run in simulated time, wherever the drills run. */
  cells: Cell[];
  /** How many cells run in parallel on real servers, if this machine's servers allow it. */
  workers?: number;
  /** Reports all cells in order. */
  isStory?: boolean;
  narrator: Narrator;
  /** The external locks among the cells. */
  grades?: Grade[];
  /** Runs the model checker on these locks: its cells, by their rows. */
  search?: (signal: AbortSignal) => Promise<Map<string, ProvedCell[]>>;
  /** What its cells say, in the language that is spoken. */
  searchSaid?: (cells: ProvedCell[]) => NonNullable<Grade['search']>;
  /** A grade is unknown unless the model checker finished every fault model. */
  isSearchRequired?: boolean;
  /** True if a viewer watches the drills of this run and wants to see Redis replies. */
  isWatched?: boolean;
  /** Ends the run when it aborts, like a signal does. */
  stopping?: AbortController;
}

/** How many step-by-step drills run in parallel: they mostly wait. */
const STEP_WORKERS = 3;

/** The environment of a run in simulated time. */
export const virtualServers: Servers = {
  url: 'http://nginx',
  redis: { kind: 'embedded', version: 'Valkey 9.1.1' },
  nginx: 'virtual',
  backends: {},
  nodes: 2,
};

/**
 * Runs the cells, narrates them, writes the report, and ends this process. When locks are graded, they decide the exit code: the
 * results of the others are ignored, and a lock that can't be graded counts as a failed run.
 */
export async function runCommand({
  running,
  nodes,
  servers,
  prints,
  reports,
  settings,
  cells,
  // Stacks that share one Redis would share the stock and the lock.
  workers = running || process.env['REDIS_URL'] ? 1 : STEP_WORKERS,
  isStory = false,
  grades,
  search = async () => new Map(),
  searchSaid = () => [],
  isSearchRequired = false,
  isVirtual = false,
  isWatched = false,
  stopping = new AbortController(),
  ...options
}: RunCommandOptions) {
  // What another program reads goes to stdout, how far the run has come to a terminal on stderr.
  const narrator = prints ? createCountingNarrator(cells.length) : options.narrator;
  const { signal } = stopping;
  const backends = [...new Set(cells.flatMap(({ stage }) => rowOf(stage)?.backends ?? []))];
  const modules = modulesOf(grades ?? []);
  const onDeath = (sentence: string) => stopping.abort(new Error(sentence));
  const own = { nodes, servers, isAlone: workers === 1, isWatched };
  const targets = createTargets({ running, ...own, modules, backends, onDeath });
  const virtual = simulatedWorld({ settings, locks: sourcesOf(grades ?? []) });
  const real = realWorld({ targets, settings, signal });
  const worldOf = ({ drill }: Cell) => (isVirtual || drill.isCheck ? virtual : real);

  stopOnSignal(new Interrupted(), stopping);
  signal.addEventListener('abort', virtual.close);
  await endWith('The run failed', run, async () => {
    virtual.close();
    await targets.close();
  });

  /** The environment to report: the stack of the first cell that needs one. */
  async function openFirst(): Promise<Servers> {
    const first = cells.find((cell) => worldOf(cell) === real);
    if (first === undefined) return virtualServers;
    const stage = isExternal(first.stage) ? undefined : first.stage;
    const target = await targets.open(first.drill.kind, 0, stage);
    return { ...target, nodes: nodes ?? target.nodes.length };
  }

  async function run(): Promise<number> {
    const startedAt = new Date();
    const searched = await search(signal);
    const inWords = (cells: Map<string, ProvedCell[]>) =>
      new Map([...cells].map(([stage, found]) => [stage, searchSaid(found)]));
    const target = await openFirst();
    const { redis, nginx, backends, nodes } = target;
    narrator.start?.(target);
    const folder = createRunFolder(reports, startedAt);

    const most = isVirtual ? Math.min(availableParallelism(), cells.length) : workers;
    const asked = { cells, worldOf, isVirtual, workers: most, isStory, signal, narrator, folder };
    const { stages, leftOut, log } = await runCells(asked);

    const results: Results = {
      format: 3,
      command: commandLine(options.command, settingsOf(options.command)),
      startedAt: startedAt.toISOString(),
      durationMs: Date.now() - startedAt.getTime(),
      ...judgeRun(stages, leftOut),
      leftOut,
      environment: { ...describeMachine(), redis, nginx, backends, nodes },
      settings,
      ...(log && { log }),
      stages,
    };
    if (grades) {
      const answersIn = (search: Map<string, Grade['search']>) =>
        grades.map((grade) => {
          const known = { ...grade, ...withSearch(search.get(grade.stage)) };
          return { ...known, answer: answerOf(known, results, isSearchRequired) };
        });
      const said = answersIn(inWords(searched));
      const english = speaking('en', () => answersIn(inWords(searched)));
      results.grades = english.map((grade, at) => ({ ...grade, said: said[at]?.answer }));
      results.verdict = worstOf(results.grades, results);
    }
    const json = jsonOf(resultsSchema.parse(results));
    folder.write('results.json', json);
    folder.write('report.html', renderPage(results));
    // A run that was stopped before its first figure must not hide the last one that has some.
    if (stages.length > 0) folder.pointAt('latest');
    narrator.end(results, folder.dir);
    if (prints === 'json') process.stdout.write(json);
    if (prints === 'markdown') process.stdout.write(renderTables(results));
    if (signal.reason instanceof Interrupted) {
      if (signal.reason.message !== '') process.stderr.write(`${signal.reason.message}\n`);
      return COULD_NOT_RUN;
    }
    // Their table compares them, and judges none.
    if (grades) return prints === 'markdown' ? AS_EXPECTED : codeOf(grades, results.verdict);
    return results.verdict === 'as-expected' ? AS_EXPECTED : NOT_AS_EXPECTED;
  }
}

/** The exit code: 1 for an unexpected result, 2 for a failed run. */
function codeOf(grades: Grade[], verdict: Results['verdict']) {
  if (verdict === 'unknown' || grades.some(({ problem }) => problem !== undefined)) return COULD_NOT_RUN;
  return verdict === 'broken' ? NOT_AS_EXPECTED : AS_EXPECTED;
}

const withSearch = (search: Grade['search']) => search && { search };

/** The environment settings that affect the figures. */
const settingsOf = (command: CommandName) =>
  [
    'LOCK_VERSION',
    'LEASE_MS',
    'RENEW_EVERY_MS',
    'FIXED_LEASE_MS',
    'RETRY_DELAY_MS',
    'WAIT_TIMEOUT_MS',
    'BUCKETS',
    'PERMITS',
  ].filter((name) => name !== 'LOCK_VERSION' || command === 'start');
