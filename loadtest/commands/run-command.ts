import type { Grade, Results } from '../evidence/results.ts';
import type { Cell } from '../harness/drill.ts';
import { createTargets } from '../harness/targets.ts';
import { holdsAll } from '../report/grades.ts';
import { writeReport } from '../report/write.ts';
import { judgeRun } from '../staircase/judge-run.ts';
import { isExternal, rowOf } from '../staircase/lookup.ts';
import { describeEnvironment } from './environment.ts';
import { type Narrator, silentNarrator } from './narrator.ts';
import type { RunSettings } from './options.ts';
import { Interrupted, runCells } from './run.ts';
import { createRunFolder } from './run-folder.ts';

const COULD_NOT_RUN = 2;

export interface RunCommandOptions extends Omit<RunSettings, 'track' | 'stages' | 'drills'> {
  /** What the user called, such as `npm start`. */
  command: string;
  cells: Cell[];
  workers: number;
  narrator: Narrator;
  /** The locks among the cells that are none of ours. */
  grades?: Grade[];
}

/**
 * Runs the cells, tells it, and writes the report. Sets the exit code: 0 as taught, 1 not as taught or unknown, 2 when the run
 * could not be made or was interrupted. When locks are graded: 0 when every drill that applies to them holds, 1 when one does
 * not, 2 when a lock could not be graded.
 */
export async function runCommand({
  running,
  json,
  reportsDir,
  settings,
  cells,
  workers,
  grades,
  ...options
}: RunCommandOptions) {
  const narrator = json ? silentNarrator : options.narrator;
  const stopping = new AbortController();
  const backends = [...new Set(cells.flatMap(({ stage }) => rowOf(stage)?.backends ?? []))];
  const modules = Object.fromEntries((grades ?? []).map(({ stage, file }) => [stage, file]));
  const onDeath = (sentence: string) => stopping.abort(new Error(sentence));
  const targets = createTargets({ running, modules, backends, onDeath });

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
  // Whoever read the output has gone, so nobody waits for the rest.
  process.stdout.once('error', interrupt).on('error', () => {});

  try {
    process.exitCode = await run();
  } catch (error) {
    process.stderr.write(`The run could not be made: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = COULD_NOT_RUN;
  }

  async function run(): Promise<number> {
    const startedAt = new Date();
    try {
      const [first] = cells;
      const target = await targets.open(
        first?.drill.kind ?? 'load',
        0,
        first && !isExternal(first.stage) ? first.stage : undefined,
      );
      narrator.start(target);
      const folder = createRunFolder(reportsDir, startedAt);

      const { signal } = stopping;
      const { stages, leftOut } = await runCells({ cells, workers, targets, settings, signal, narrator, folder });

      const results: Results = {
        format: 1,
        command: commandLine(options.command),
        startedAt: startedAt.toISOString(),
        durationMs: Date.now() - startedAt.getTime(),
        ...judgeRun(stages, leftOut),
        leftOut,
        environment: describeEnvironment(target),
        settings,
        stages,
        ...(grades && { grades }),
      };
      folder.finish(results);
      await writeReport(results, folder.dir);
      narrator.end(results, folder.dir);
      if (json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
      if (signal.reason instanceof Interrupted) return COULD_NOT_RUN;
      if (grades?.some(({ problem }) => problem !== undefined)) return COULD_NOT_RUN;
      return (grades ? holdsAll(results) : results.verdict === 'as-taught') ? 0 : 1;
    } finally {
      await targets.close();
    }
  }

  /** The first signal ends the run in order; the second ends it at once, and the reaper clears up. */
  function interrupt() {
    if (stopping.signal.aborted) process.exit(COULD_NOT_RUN);
    stopping.abort(new Interrupted());
  }
}

/** How to repeat this run. */
function commandLine(command: string): string {
  const args = process.argv.slice(2);
  const settings = ['LOCK_VERSION', 'LEASE_MS', 'RETRY_DELAY_MS', 'WAIT_TIMEOUT_MS']
    .filter((name) => process.env[name] && (name !== 'LOCK_VERSION' || command === 'npm start'))
    .map((name) => `${name}=${process.env[name]} `);
  return `${settings.join('')}${command}${args.length > 0 ? ` -- ${args.join(' ')}` : ''}`;
}
