import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { notifyReaper } from '../../stack/parts.ts';
import type { Checkout } from './checkout.ts';
import type { Mutation } from './mutation.ts';

/** How long the tests of one mutation may take, in milliseconds. */
const LIMIT_MS = 180_000;
/** How long one of them may take that sets no limit of its own, in milliseconds. Many a bug shows by a test that hangs. */
const TEST_LIMIT_MS = 30_000;

/** How a run of tests ended. `broken`: it says nothing, because no test was run to its end, or a test file could not. */
export type TestRun =
  | { ended: 'passed'; tests: number }
  | { ended: 'failed'; test: string }
  | { ended: 'broken'; why: string };

interface VitestReport {
  numPassedTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string }[];
  }[];
}

/** Runs these tests in the checkout, up to the first that fails. Rejects with the signal's reason when that aborts. */
export async function runTests(
  { dir, tmp }: Checkout,
  { tests, title }: Pick<Mutation, 'tests' | 'title'>,
  signal: AbortSignal,
): Promise<TestRun> {
  signal.throwIfAborted();
  const reportFile = join(tmp, 'vitest.json');
  rmSync(reportFile, { force: true });
  const vitest = join(dir, 'node_modules/vitest/vitest.mjs');
  const limit = ['--testTimeout', String(TEST_LIMIT_MS)];
  const options = ['--bail', '1', ...limit, '--reporter', 'json', '--outputFile', reportFile];
  const child = spawn(
    process.execPath,
    [vitest, 'run', ...tests, ...(title === undefined ? [] : ['-t', title]), ...options],
    // A group of its own: Ctrl-C reaches this process alone, which then ends the group.
    { cwd: dir, env: environment(tmp), detached: true, stdio: 'ignore' },
  );
  const exited = once(child, 'exit') as Promise<[code: number | null]>;
  const { pid } = child;
  if (pid === undefined) throw new Error('vitest could not be started.');
  notifyReaper(`+pid ${pid}`);
  let isTooLong = false;
  const timer = setTimeout(() => {
    isTooLong = true;
    killGroup(pid);
  }, LIMIT_MS);
  const stop = () => killGroup(pid);
  signal.addEventListener('abort', stop);
  let exitCode: number | null;
  try {
    [exitCode] = await exited;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    // A worker may have outlived it.
    killGroup(pid);
    notifyReaper(`-pid ${pid}`);
  }
  signal.throwIfAborted();
  if (isTooLong) return { ended: 'failed', test: `They did not end within ${LIMIT_MS / 1000} s.` };
  const run = readReport(reportFile, dir);
  // Vitest ends so after a rejection that nobody has handled.
  if (run.ended === 'passed' && exitCode !== 0) return { ended: 'failed', test: 'An error outside of the tests.' };
  return run;
}

function readReport(file: string, dir: string): TestRun {
  const report = readJson(file);
  if (report === undefined) return { ended: 'broken', why: 'vitest wrote no report.' };
  const all = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = all.find(({ status }) => status === 'failed');
  if (failed) return { ended: 'failed', test: failed.fullName };
  const badFile = report.testResults.find(({ status }) => status === 'failed');
  if (badFile) {
    const [firstLine = ''] = badFile.message.trim().split('\n');
    return { ended: 'broken', why: `${badFile.name.replace(`${dir}/`, '')}: ${firstLine}` };
  }
  if (report.numPassedTests === 0) return { ended: 'broken', why: 'No test has this title, or each was skipped.' };
  return { ended: 'passed', tests: report.numPassedTests };
}

function readJson(file: string): VitestReport | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Without what a vitest around this one has set. */
function environment(tmp: string) {
  const isOurs = ([name]: [string, unknown]) => !name.startsWith('VITEST') && name !== 'NODE_ENV';
  return { ...Object.fromEntries(Object.entries(process.env).filter(isOurs)), TMPDIR: tmp };
}

function killGroup(pid: number) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
