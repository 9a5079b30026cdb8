// Runs foreign code in its own process, because it may end that process or block it for ever.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { hostArgs } from '../../stack/bundle.ts';
import { projectDir } from '../../stack/parts.ts';

/** How long a module may take to load once its process has started, in milliseconds. */
const LOAD_LIMIT_MS = 30_000;
/** How long that process may take to start, in milliseconds. */
const START_LIMIT_MS = 30_000;

/**
 * What a script of the lab finds. It sends when it begins, and then what it has found. `problem` is a clause that says why it finds nothing, when it comes to
 * no end, or the code of others ends it.
 */
export async function askProcess<Found extends object>(
  file: string,
  args: string[],
  limitMs = LOAD_LIMIT_MS,
): Promise<Found | { problem?: string }> {
  const [script = '', ...execArgv] = (await hostArgs(file)).toReversed();
  const child = fork(script, args, { execArgv: execArgv.toReversed(), stdio: 'ignore', cwd: projectDir });
  // Both may come at once, and with its end: nothing listens too late.
  const begun = once(child, 'message');
  const found = new Promise<Found>((resolve) => {
    child.once('message', () => child.once('message', (message) => resolve(message as Found)));
  });
  const ended = Promise.all([once(child, 'exit'), once(child, 'disconnect')]).then(([[code, signal]]) => ({
    problem: endOf(code ?? signal),
  }));
  const limit = <T>(ms: number, found: T) => sleep(ms, found, { ref: false });
  const problem = `it was not loaded within ${limitMs / 1000} s: its import never ends`;

  await Promise.race([begun, ended, limit(START_LIMIT_MS, {})]);
  const result = await Promise.race([found, ended, limit(limitMs, { problem })]);
  child.kill('SIGKILL');
  return result;
}

/** Node ends with 13 when a top-level await can never resolve. */
function endOf(how: number | string | null) {
  if (how === 13) return 'its import never ends: it awaits something that never happens';
  return `it ends the process that loads it (${how})`;
}
