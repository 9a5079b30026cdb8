// Judges many mutants, two at the same time.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLuck } from '../../../simulation/luck.ts';
import { bundledArgs } from '../../../stack/bundle.ts';
import { makeTempDir, projectDir } from '../../../stack/parts.ts';
import type { Silence } from '../../../stack/signs.ts';
import { openWorker, type Worker } from '../../../stack/worker-process.ts';
import type { Judgement, Usual } from './judge.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import { filesOfSubjects } from './subjects.ts';

const WORKERS = 2;
/** A worker keeps what it has bundled: after so many mutants another takes its place. */
const MUTANTS_PER_WORKER = 25;
/** A mutant that computes for so long without a sign keeps its process for ever, in milliseconds of CPU time. */
const limits = { keptMs: 5_000, silenceMs: 60_000 };
/** What has not been judged by then never is, in milliseconds. */
const LIMIT_MS = 300_000;

export interface Candidate extends Mutant {
  lock: string;
  file: string;
}

/**
 * `caught`: the scene shows that it is wrong, and a check or a drill fails. `missed`: none does. `accused`: one does, and the scene shows
 * nothing. `alike`: neither. `not loaded`: it is no program. `not judged`: it took too long.
 */
export type Class = 'caught' | 'missed' | 'accused' | 'alike' | 'not loaded' | 'not judged';

export interface Judged extends Judgement {
  candidate: Candidate;
  is: Class;
  ms: number;
}

/** The mutants of these subjects, in the order of their files; of more than `most`, so many at random. */
export function candidatesOf(locks: string[], most: number, seed: number): Candidate[] {
  const all = [...filesOfSubjects()].flatMap(([lock, files]) =>
    (locks.includes(lock) ? files : []).flatMap((file) =>
      mutantsOf(file, readFileSync(join(projectDir, file), 'utf8')).map((mutant) => ({ ...mutant, lock, file })),
    ),
  );
  const luck = createLuck(seed);
  const drawn = all.map((_, at) => ({ at, draw: luck() })).toSorted((one, other) => one.draw - other.draw);
  const chosen = new Set(drawn.slice(0, most).map(({ at }) => at));
  return all.filter((_, at) => chosen.has(at));
}

/** Judges them, and tells of each. Resolves early when `signal` aborts. */
export async function judgeMutants(candidates: Candidate[], signal: AbortSignal, onJudged: (judged: Judged) => void) {
  const { dir, remove } = makeTempDir();
  const node = bundledArgs('test/mutations/generated/worker.ts');
  const queue = candidates.map((candidate, number) => ({ candidate, number }));
  const usual = new Map<string, Promise<Usual>>();
  const workers = new Set<Worker<Judgement | Usual>>();
  signal.addEventListener('abort', () => {
    for (const worker of workers) worker.end();
  });

  async function work() {
    const worker = openWorker<Judgement | Usual>({ node, limits });
    workers.add(worker);
    let judged = 0;
    for (let next = queue.shift(); next && !signal.aborted; next = queue.shift()) {
      const { candidate, number } = next;
      const { lock, file, text } = candidate;
      const known = usual.get(lock) ?? (worker.ask({ lock }) as Promise<Usual>);
      usual.set(lock, known);
      const task = { lock, file, text, usual: await known, dir, number };
      if (signal.aborted) break;
      const startedAt = performance.now();
      const judgement = await askInTime(worker, task);
      if (signal.aborted) break;
      onJudged({ candidate, is: classOf(judgement), ms: Math.round(performance.now() - startedAt), ...judgement });
      judged += 1;
      if (judged % MUTANTS_PER_WORKER === 0) worker.end();
    }
    worker.end();
  }

  await Promise.all(Array.from({ length: WORKERS }, work)).finally(remove);
}

async function askInTime(worker: Worker<Judgement | Usual>, task: object): Promise<Judgement | undefined> {
  let silence: Silence | undefined;
  const timer = setTimeout(worker.end, LIMIT_MS);
  const answer = await worker.ask(task, (found) => {
    silence = found;
  });
  clearTimeout(timer);
  if (answer !== undefined) return answer as Judgement;
  const [reason = ''] = silence?.reasons ?? [];
  if (silence?.verdict !== 'fail') return undefined;
  const difference = { family: 'any', seed: 1, what: 'it keeps its process' };
  return { difference, caughtBy: { name: 'its process', reason } };
}

function classOf(judgement: Judgement | undefined): Class {
  if (judgement === undefined) return 'not judged';
  const { problem, difference, caughtBy } = judgement;
  if (problem !== undefined) return 'not loaded';
  if (difference) return caughtBy ? 'caught' : 'missed';
  return caughtBy ? 'accused' : 'alike';
}
