// What the commands that run cells do, from the first stack to the report.

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
  /** Conformance checks among them are run in the virtual world, wherever the drills are. */
  cells: Cell[];
  /** How many cells are run at the same time on real servers, where those of this machine allow it. */
  workers?: number;
  /** All cells are told in their order. */
  isStory?: boolean;
  narrator: Narrator;
  /** The external locks among the cells. */
  grades?: Grade[];
  /** Runs the model checker on these locks: its cells, by their rows. */
  search?: (signal: AbortSignal) => Promise<Map<string, ProvedCell[]>>;
  /** What its cells say, in the language that is spoken. */
  searchSaid?: (cells: ProvedCell[]) => NonNullable<Grade['search']>;
  /** A grade that was not searched to the end of every scope is not known. */
  isSearchRequired?: boolean;
  /** Somebody watches the drills of this run, who wants to see what Redis replies. */
  isWatched?: boolean;
  /** Ends the run when it aborts, for those who can do so besides a signal. */
  stopping?: AbortController;
}

/** How many drills that go step by step run at the same time: they mostly wait. */
const STEP_WORKERS = 3;

/** What a run in the virtual world is made with. */
export const virtualServers: Servers = {
  url: 'http://nginx',
  redis: { kind: 'embedded', version: 'Valkey 9.1.1' },
  nginx: 'virtual',
  backends: {},
  nodes: 2,
};

/**
 * Runs the cells, narrates it, writes the report, and ends this process. When locks are graded, they decide it: what the others do
 * is expected, and a lock that can't be graded counts as a run that could not be made.
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
  await endWith('The run could not be made', run, async () => {
    virtual.close();
    await targets.close();
  });

  /** What the run is told to be made with: the stack of the first cell that needs one. */
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

/** A broken promise is a 1, and what could not be run a 2. */
function codeOf(grades: Grade[], verdict: Results['verdict']) {
  if (verdict === 'unknown' || grades.some(({ problem }) => problem !== undefined)) return COULD_NOT_RUN;
  return verdict === 'broken' ? NOT_AS_EXPECTED : AS_EXPECTED;
}

const withSearch = (search: Grade['search']) => search && { search };

/** The settings of the environment that the figures depend on. */
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
