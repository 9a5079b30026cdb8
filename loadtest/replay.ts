// npm start: replays the stages on real servers, tells the story as it goes, and writes the report.

import dotenv from 'dotenv';
import { describeEnvironment } from './environment.ts';
import { createNarrator, silentNarrator } from './narrator.ts';
import { readReplayOptions } from './options.ts';
import { writeReport } from './report/write.ts';
import type { Results } from './results.ts';
import { Interrupted, runDrills } from './run.ts';
import { createRunFolder } from './run-folder.ts';
import { judgeRun } from './staircase.ts';
import { openLocalTarget, openRunningTarget } from './target.ts';

const COULD_NOT_RUN = 2;

dotenv.config({ quiet: true });
const options = readReplayOptions(process.argv, process.env);
const narrator = options.json ? silentNarrator : createNarrator(process.stdout);
const stopping = new AbortController();

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
// Whoever read the output has gone, so nobody waits for the rest.
process.stdout.once('error', interrupt).on('error', () => {});

try {
  process.exitCode = await replay();
} catch (error) {
  process.stderr.write(`The run could not be made: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = COULD_NOT_RUN;
}

/** Resolves with the exit code: 0 as taught, 1 not as taught or unknown, 2 interrupted. */
async function replay(): Promise<number> {
  const startedAt = new Date();
  const target = await openTarget();
  try {
    narrator.start(target);
    void target.partDied.then((sentence) => stopping.abort(new Error(sentence)));
    const folder = createRunFolder(options.reportsDir, startedAt);

    const { stages, leftOut } = await runDrills({ ...options, target, signal: stopping.signal, narrator, folder });

    const results: Results = {
      format: 1,
      command: commandLine(),
      startedAt: startedAt.toISOString(),
      durationMs: Date.now() - startedAt.getTime(),
      ...judgeRun(stages, leftOut),
      leftOut,
      environment: describeEnvironment(target),
      settings: options.settings,
      stages,
    };
    folder.finish(results);
    await writeReport(results, folder.dir);
    narrator.end(results, folder.dir);
    if (options.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
    if (stopping.signal.reason instanceof Interrupted) return COULD_NOT_RUN;
    return results.verdict === 'as-taught' ? 0 : 1;
  } finally {
    await target.close();
  }
}

function openTarget() {
  const { running } = options;
  if (running) return openRunningTarget(running.url, running.labUrls);
  return openLocalTarget({
    env: { LOG_LEVEL: process.env.LOG_LEVEL || 'warn' },
    onLine: (name, line) => process.stderr.write(`${name}: ${line}\n`),
  });
}

/** The first signal ends the run in order; the second ends it at once, and the reaper clears up. */
function interrupt() {
  if (stopping.signal.aborted) process.exit(COULD_NOT_RUN);
  stopping.abort(new Interrupted());
}

/** How to repeat this run. */
function commandLine(): string {
  const args = process.argv.slice(2);
  const settings = ['LOCK_VERSION', 'LEASE_MS', 'RETRY_DELAY_MS', 'WAIT_TIMEOUT_MS']
    .filter((name) => process.env[name])
    .map((name) => `${name}=${process.env[name]} `);
  return `${settings.join('')}npm start${args.length > 0 ? ` -- ${args.join(' ')}` : ''}`;
}
