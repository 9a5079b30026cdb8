import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../../stack/parts.ts';
import { type Checkout, copyCheckout } from './checkout.ts';
import { type Mutation, mutate, StaleMutationError } from './mutation.ts';
import { runTests } from './test-run.ts';

/** How many mutations are tried at the same time. Their tests run real servers, on a machine of two cores. */
const WORKERS = 2;

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
    if (error instanceof StaleMutationError) return error.message;
    throw error;
  }
}

/**
 * Tries each mutation in a copy of the checkout. Each set of tests runs once without a mutation before those that it must
 * catch. Resolves in the order of `mutations`; rejects with the signal's reason when that aborts. Either way nothing is left.
 */
export async function tryMutations(
  projectDir: string,
  mutations: Mutation[],
  { signal, onTried }: { signal: AbortSignal; onTried: (tried: Tried) => void },
): Promise<Tried[]> {
  const tried = new Map<Mutation, Tried>();
  const report = (result: Tried) => {
    tried.set(result.mutation, result);
    onTried(result);
  };
  for (const mutation of mutations) {
    const why = whyStale(projectDir, mutation);
    if (why !== undefined) report({ mutation, outcome: 'stale', detail: why, ms: 0 });
  }
  const queue = bySetOfTests(mutations.filter((mutation) => !tried.has(mutation)));
  const ended = await Promise.allSettled(Array.from({ length: Math.min(WORKERS, queue.length) }, work));
  for (const end of ended) if (end.status === 'rejected') throw end.reason;
  return mutations.flatMap((mutation) => tried.get(mutation) ?? []);

  async function work() {
    const temp = makeTempDir();
    try {
      const checkout = copyCheckout(projectDir, join(temp.dir, 'checkout'));
      for (let group = queue.shift(); group; group = queue.shift()) await tryGroup(checkout, group);
    } catch (error) {
      queue.splice(0);
      throw error;
    } finally {
      temp.remove();
    }
  }

  async function tryGroup(checkout: Checkout, group: Mutation[]) {
    const [first] = group;
    if (first === undefined) return;
    const without = await runTests(checkout, first, signal);
    for (const mutation of group) {
      if (without.ended === 'passed') report(await tryOne(checkout, mutation));
      else if (without.ended === 'failed') report({ mutation, outcome: 'fails-anyway', detail: without.test, ms: 0 });
      else report({ mutation, outcome: 'fails-anyway', detail: without.why, ms: 0 });
    }
  }

  async function tryOne(checkout: Checkout, mutation: Mutation): Promise<Tried> {
    const startedAt = performance.now();
    const run = await checkout.withMutation(mutation, () => runTests(checkout, mutation, signal));
    const ms = Math.round(performance.now() - startedAt);
    if (run.ended === 'failed') return { mutation, outcome: 'caught', detail: run.test, ms };
    if (run.ended === 'broken') return { mutation, outcome: 'broken', detail: run.why, ms };
    return { mutation, outcome: 'survived', detail: `${run.tests} passed with it`, ms };
  }
}

/** Mutations with the same tests stand together, so that these run without a mutation only once. */
function bySetOfTests(mutations: Mutation[]): Mutation[][] {
  const groups = new Map<string, Mutation[]>();
  for (const mutation of mutations) {
    const key = JSON.stringify([mutation.tests, mutation.title]);
    groups.set(key, [...(groups.get(key) ?? []), mutation]);
  }
  return [...groups.values()];
}
