import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { notifyReaper } from '../../stack/parts.ts';
import type { Mutation } from './mutation.ts';

/** How long the tests of one mutation may take, in milliseconds. */
const LIMIT_MS = 180_000;
/** How long one of them may take that sets no limit of its own, in milliseconds. Many a bug shows by a test that hangs. */
const TEST_LIMIT_MS = 30_000;

/** How a run of tests ended. `broken`: it says nothing, because no test was run to its end, or a test file could not. */
export interface TestRun {
  ended: 'passed' | 'failed' | 'broken';
  /** The test that failed, or why nothing can be said. */
  detail: string;
}

interface VitestReport {
  numPassedTests: number;
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string }[];
  }[];
}

/** Runs these tests in the checkout, up to the first that fails. */
export async function runTests(dir: string, { tests, title }: Pick<Mutation, 'tests' | 'title'>): Promise<TestRun> {
  const TMPDIR = join(dir, 'tmp');
  const reportFile = join(TMPDIR, 'vitest.json');
  rmSync(reportFile, { force: true });
  const only = title === undefined ? [] : ['-t', title];
  const options = [
    '--bail',
    '1',
    '--testTimeout',
    `${TEST_LIMIT_MS}`,
    '--reporter',
    'json',
    '--outputFile',
    reportFile,
  ];
  // Without what a vitest around this one has set.
  const isOurs = ([name]: [string, unknown]) => !name.startsWith('VITEST') && name !== 'NODE_ENV';
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...tests, ...only, ...options], {
    cwd: dir,
    env: { ...Object.fromEntries(Object.entries(process.env).filter(isOurs)), TMPDIR },
    // A group of its own, which ends as a whole.
    detached: true,
    stdio: 'ignore',
  });
  notifyReaper(`+pid ${child.pid}`);
  const timer = setTimeout(() => killGroup(child.pid), LIMIT_MS);
  const [exitCode] = await once(child, 'exit');
  clearTimeout(timer);
  // A worker may have outlived it.
  killGroup(child.pid);
  notifyReaper(`-pid ${child.pid}`);
  if (exitCode === null) return { ended: 'failed', detail: `They did not end within ${LIMIT_MS / 1000} s.` };
  const run = readReport(reportFile, dir);
  // Vitest ends so after a rejection that nobody has handled.
  if (run.ended === 'passed' && exitCode !== 0) return { ended: 'failed', detail: 'An error outside of the tests.' };
  return run;
}

function readReport(file: string, dir: string): TestRun {
  if (!existsSync(file)) return { ended: 'broken', detail: 'vitest wrote no report.' };
  const { numPassedTests, testResults } = JSON.parse(readFileSync(file, 'utf8')) as VitestReport;
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = all.find(({ status }) => status === 'failed');
  if (failed) return { ended: 'failed', detail: failed.fullName };
  const badFile = testResults.find(({ status }) => status === 'failed');
  if (badFile) {
    const [firstLine = ''] = badFile.message.trim().split('\n');
    return { ended: 'broken', detail: `${badFile.name.replace(`${dir}/`, '')}: ${firstLine}` };
  }
  if (numPassedTests === 0) return { ended: 'broken', detail: 'No test has this title, or each was skipped.' };
  return { ended: 'passed', detail: `${numPassedTests} passed with it` };
}

function killGroup(pid: number | undefined) {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
