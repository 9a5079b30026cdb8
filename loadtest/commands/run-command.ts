// What the commands that run cells do, from the first stack to the report.

import { availableParallelism } from 'node:os';
import type { Grade, Results, StageResult } from '../evidence/results.ts';
import { modulesOf, sourcesOf } from '../grade/external-locks.ts';
import type { Cell } from '../harness/drill.ts';
import { realWorld } from '../harness/real-world.ts';
import { createTargets } from '../harness/targets.ts';
import { answerOf, worstOf } from '../report/grades.ts';
import { renderTables } from '../report/markdown.ts';
import { judgeRun } from '../staircase/judge-run.ts';
import { isExternal, rowOf } from '../staircase/lookup.ts';
import { openVirtualWorld } from '../virtual/world.ts';
import { AS_TAUGHT, COULD_NOT_RUN, NOT_AS_TAUGHT, runToEnd, stopOnSignal } from './ending.ts';
import { commandLine, describeEnvironment } from './environment.ts';
import { createCountingNarrator, type Narrator, silentNarrator } from './narrator.ts';
import type { RunSettings } from './options.ts';
import { Interrupted, runCells } from './run.ts';
import { createRunFolder } from './run-folder.ts';

export interface RunCommandOptions extends RunSettings {
  /** What the user called, such as `npm start`. */
  command: string;
  cells: Cell[];
  /** How many cells are run at the same time on real servers. */
  workers: number;
  /** All cells are told in their order. */
  isStory?: boolean;
  narrator: Narrator;
  /** The external locks among the cells. */
  grades?: Grade[];
  /** The conformance checks to run before, and how to search every order of events of these locks: what is found, by their rows. */
  checks?: Cell[];
  search?: (signal: AbortSignal) => Promise<Map<string, Grade['search']>>;
  /** Ends the run when it aborts, for those who can do so besides a signal. */
  stopping?: AbortController;
}

/** What a run in the virtual world is made with. */
const virtualServers: Parameters<Narrator['start']>[0] = {
  url: 'http://nginx',
  redis: { kind: 'embedded', version: 'Valkey 9.1.1' },
  nginx: 'virtual',
  backends: {},
};

/**
 * Runs the cells, narrates it, writes the report, and sets the exit code. When locks are graded, they decide it: what the others do
 * is taught, and a lock that can't be graded counts as a run that could not be made.
 */
export async function runCommand({
  running,
  prints,
  reports,
  settings,
  cells,
  workers,
  isStory = false,
  grades,
  checks = [],
  search = async () => new Map(),
  isVirtual = false,
  stopping = new AbortController(),
  ...options
}: RunCommandOptions) {
  const narrator = prints ? silentNarrator : options.narrator;
  const { signal } = stopping;
  const backends = [...new Set(cells.flatMap(({ stage }) => rowOf(stage)?.backends ?? []))];
  const modules = modulesOf(grades ?? []);
  const onDeath = (sentence: string) => stopping.abort(new Error(sentence));
  const targets = createTargets({ running, modules, backends, onDeath });
  const virtual = openVirtualWorld({ settings, locks: sourcesOf(grades ?? []) });
  const world = isVirtual ? virtual : realWorld({ targets, settings, signal });

  stopOnSignal(stopping, new Interrupted());
  signal.addEventListener('abort', virtual.close);
  process.exitCode = await runToEnd('The run could not be made', run, async () => {
    virtual.close();
    await targets.close();
  });

  function openFirst() {
    const [first] = cells;
    const stage = first && !isExternal(first.stage) ? first.stage : undefined;
    return targets.open(first?.drill.kind ?? 'load', 0, stage);
  }

  async function run(): Promise<number> {
    const startedAt = new Date();
    const checked = await runChecks();
    const searched = signal.aborted ? new Map() : await search(signal);
    const target = isVirtual ? virtualServers : await openFirst();
    narrator.start(target);
    const folder = createRunFolder(reports, startedAt);

    const most = isVirtual ? Math.min(availableParallelism(), cells.length) : workers;
    const asked = { cells, world, workers: most, isStory, signal, narrator, folder };
    const { stages: ran, leftOut: left, log } = await runCells(asked);
    const stages = together(checked.stages, ran);
    const leftOut = [...checked.leftOut, ...left];

    const results: Results = {
      format: 2,
      command: commandLine(options.command, settingsOf(options.command)),
      startedAt: startedAt.toISOString(),
      durationMs: Date.now() - startedAt.getTime(),
      ...judgeRun(stages, leftOut),
      leftOut,
      environment: describeEnvironment(target),
      settings,
      ...(log && { log }),
      stages,
    };
    if (grades) {
      results.grades = grades.map((grade) => ({ ...grade, ...withSearch(searched.get(grade.stage)) }));
      for (const grade of results.grades) grade.answer = answerOf(grade, results);
      results.verdict = worstOf(results.grades, results);
    }
    folder.finish(results);
    narrator.end(results, folder.dir);
    if (prints === 'json') process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
    if (prints === 'markdown') process.stdout.write(renderTables(results));
    if (signal.reason instanceof Interrupted) {
      if (signal.reason.message !== '') process.stderr.write(`${signal.reason.message}\n`);
      return COULD_NOT_RUN;
    }
    if (grades) return codeOf(grades, results.verdict);
    return results.verdict === 'as-taught' ? AS_TAUGHT : NOT_AS_TAUGHT;
  }

  /** In the virtual world, wherever the drills are run. */
  async function runChecks() {
    const asked = {
      cells: checks,
      world: virtual,
      workers: availableParallelism(),
      signal,
      narrator: createCountingNarrator(checks.length),
      folder: { writeEvents() {} },
    };
    return runCells(asked);
  }
}

/** A broken promise is a 1, and what is not known a 2. */
function codeOf(grades: Grade[], verdict: Results['verdict']) {
  if (verdict === 'unknown' || grades.some(({ problem }) => problem !== undefined)) return COULD_NOT_RUN;
  return verdict === 'broken' ? NOT_AS_TAUGHT : AS_TAUGHT;
}

const withSearch = (search: Grade['search']) => search && { search };

/** The rows of both, with the checks before the drills. */
function together(checked: StageResult[], ran: StageResult[]): StageResult[] {
  const drillsOf = (rows: StageResult[], stage: string) => rows.find((row) => row.stage === stage)?.drills ?? [];
  const others = checked.filter(({ stage }) => !ran.some((row) => row.stage === stage));
  const rows = ran.map((row) => ({ ...row, drills: [...drillsOf(checked, row.stage), ...row.drills] }));
  return [...rows, ...others];
}

/** The settings of the environment that the figures depend on. */
const settingsOf = (command: string) =>
  ['LOCK_VERSION', 'LEASE_MS', 'RETRY_DELAY_MS', 'WAIT_TIMEOUT_MS', 'BUCKETS'].filter(
    (name) => name !== 'LOCK_VERSION' || command === 'npm start',
  );
