import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { makeTempDir } from '../../stack/parts.ts';
import { type Mutation, mutate } from './mutation.ts';
import { runTests } from './test-run.ts';

/** How many mutations are tried at the same time. Their tests run real servers, on a machine of two cores. */
const WORKERS = 2;
const NOT_COPIED = ['node_modules', '.git', '.env', 'reports', 'coverage'];

/**
 * `caught`: a test failed. `survived`: all passed, so a test is missing, or the mutation changes nothing. `stale`: the source
 * or the tests are no longer as the catalogue says. `fails-anyway`: the tests fail without it, and prove nothing.
 * `broken`: no test failed, but a test file could not be run with it.
 */
export type Outcome = 'caught' | 'survived' | 'stale' | 'fails-anyway' | 'broken';

export interface Tried {
  mutation: Mutation;
  outcome: Outcome;
  /** The test that failed, or why nothing can be said. */
  detail: string;
  /** How long its tests took, in milliseconds, without those of the run without a mutation. */
  ms: number;
}

/** Why the mutation can't be tried in this checkout, as a sentence; undefined when it can. */
export function whyStale(projectDir: string, mutation: Mutation): string | undefined {
  const missing = [mutation.file, ...mutation.tests].find((file) => !existsSync(join(projectDir, file)));
  if (missing !== undefined) return `There is no ${missing}.`;
  try {
    mutate(readFileSync(join(projectDir, mutation.file), 'utf8'), mutation);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Tries each mutation in a copy of the checkout. Each set of tests runs once without a mutation before those that it must catch. The copies
 * are gone when this process is.
 */
export async function tryMutations(projectDir: string, mutations: Mutation[], onTried: (tried: Tried) => void) {
  const tried: Tried[] = [];
  const report = (result: Tried) => {
    tried.push(result);
    onTried(result);
  };
  const fresh = mutations.filter((mutation) => {
    const detail = whyStale(projectDir, mutation);
    if (detail !== undefined) report({ mutation, outcome: 'stale', detail, ms: 0 });
    return detail === undefined;
  });
  const testsOf = ({ tests, title }: Mutation) => JSON.stringify([tests, title]);
  const groups = new Set(fresh.map(testsOf));
  const queue = [...groups].map((tests) => fresh.filter((mutation) => testsOf(mutation) === tests));

  async function work() {
    const dir = copyCheckout(projectDir);
    for (let group = queue.shift(); group; group = queue.shift()) {
      const { ended, detail } = await runTests(dir, group[0] as Mutation);
      for (const mutation of group)
        report(ended === 'passed' ? await tryOne(dir, mutation) : { mutation, outcome: 'fails-anyway', detail, ms: 0 });
    }
  }

  await Promise.all(Array.from({ length: Math.min(WORKERS, queue.length) }, work));
  return tried;
}

async function tryOne(dir: string, mutation: Mutation): Promise<Tried> {
  const startedAt = performance.now();
  const path = join(dir, mutation.file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(path, mutate(source, mutation));
  const { ended, detail } = await runTests(dir, mutation);
  writeFileSync(path, source);
  const outcome = ({ passed: 'survived', failed: 'caught', broken: 'broken' } as const)[ended];
  return { mutation, outcome, detail, ms: Math.round(performance.now() - startedAt) };
}

/** Copies the checkout in `from`, in which a source file may then be broken without harm, and returns its folder. Its packages are linked. */
function copyCheckout(from: string): string {
  const dir = join(makeTempDir().dir, 'checkout');
  const isCopied = (path: string) =>
    !relative(from, path)
      .split('/')
      .some((name) => NOT_COPIED.includes(name));
  cpSync(from, dir, { recursive: true, filter: isCopied });
  for (const folder of ['node_modules', 'tmp']) mkdirSync(join(dir, folder));
  // Each package by itself: what the tests keep in `node_modules/.cache` is of this copy, and must not reach another.
  const packages = readdirSync(join(from, 'node_modules')).filter((name) => !name.startsWith('.') || name === '.bin');
  for (const name of packages) symlinkSync(join(from, 'node_modules', name), join(dir, 'node_modules', name));
  const peers = 'loadtest/peers/node_modules';
  if (existsSync(join(from, peers))) symlinkSync(join(from, peers), join(dir, peers));
  return dir;
}
