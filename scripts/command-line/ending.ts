// How a command ends: its exit codes, and what a signal does.

import { withoutPassword } from '../../services/inventory/settings/setting-error.ts';

/** Every result is as expected; for graded locks, every applicable check holds. */
export const AS_EXPECTED = 0;
/** A result is not as expected, or unknown: see the report. */
export const NOT_AS_EXPECTED = 1;
/** The command could not run as it was called, or was interrupted: check the command line. */
export const COULD_NOT_RUN = 2;

/**
 * Runs a command, then closes what it has opened, however the run ended. Resolves with the exit code: that of `run`, or
 * COULD_NOT_RUN when either rejects, with a line for each on stderr that begins with `failure`.
 */
export async function runToEnd(
  failure: string,
  run: () => Promise<number>,
  close: () => Promise<void> = async () => {},
): Promise<number> {
  const fail = (error: unknown) => {
    if (!hasReader) return COULD_NOT_RUN;
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(withoutPassword(`${failure}: ${why}\n`));
    return COULD_NOT_RUN;
  };
  const code = await run().catch(fail);
  return close().then(() => code, fail);
}

/** False if nobody reads the output any more, as behind `| head`: the rest can be dropped silently. */
let hasReader = true;

/**
 * Returns what aborts with `reason` at the first signal, or when the reader of the output has gone, so that the run ends in
 * order. The second signal ends the process at once, and the reaper clears up.
 */
export function stopOnSignal(reason: Error, stopping = new AbortController()): AbortController {
  const interrupt = () => {
    if (stopping.signal.aborted) process.exit(COULD_NOT_RUN);
    stopping.abort(reason);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);
  process.stdout.on('error', () => {
    hasReader = false;
    stopping.abort(reason);
  });
  return stopping;
}

/**
 * Runs a command as `runToEnd`, and ends this process with its exit code, whatever a lock or a server has left behind. What was
 * written to a pipe is read first, however long the reader takes.
 */
export async function endWith(...command: Parameters<typeof runToEnd>): Promise<never> {
  const code = await runToEnd(...command);
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => stream.write('', () => resolve()));
  }
  return process.exit(code);
}
