// The workshop that runs on this machine, as the file says that it keeps. There may be none, or one that has died.

import { statSync } from 'node:fs';
import { uptime } from 'node:os';
import { readState, stateFile, type WorkshopState } from '../../exercises/workshop/state.ts';
import type { WorkshopVerdict, WorkshopView } from '../workshop-contract.ts';
import { withoutPaths } from './without-paths.ts';

/** How often the file is looked at, in milliseconds. */
const LOOK_MS = 200;
/** A file that is larger is none that a workshop has written, in bytes. */
const LARGEST = 1_000_000;

export interface WatchedWorkshop {
  /** Null when no workshop runs, or what its file says can't be read. */
  read(): WorkshopView | null;
  close(): void;
}

export interface WatchedWorkshopOptions {
  /** Where the workshop writes how it is. */
  file?: string;
  /** Called when there is something else to be seen. */
  onChange: () => void;
}

/** Watches the file until it is closed. It looks again and again: that works on every file system, and for a file that is replaced. */
export function watchWorkshop({ file = stateFile, onChange }: WatchedWorkshopOptions): WatchedWorkshop {
  let version: string | undefined;
  let state: WorkshopState | undefined;
  let view = look();
  const looking = setInterval(() => {
    const before = JSON.stringify(view);
    view = look();
    if (JSON.stringify(view) !== before) onChange();
  }, LOOK_MS).unref();

  function look(): WorkshopView | null {
    const now = versionOf(file);
    if (now !== version) state = now === undefined ? undefined : readState(file);
    version = now;
    return state !== undefined && isRunning(state) ? viewOf(state) : null;
  }

  return { read: () => view, close: () => clearInterval(looking) };
}

/** Differs when the file was written anew. Undefined when there is none to be read: a pipe would keep a reader waiting for ever. */
function versionOf(file: string): string | undefined {
  try {
    const stats = statSync(file);
    return stats.isFile() && stats.size <= LARGEST ? `${stats.ino} ${stats.mtimeMs} ${stats.size}` : undefined;
  } catch {
    return undefined;
  }
}

/** The process of the workshop is there. After the machine was started anew another one may have its number. */
function isRunning({ pid, updatedAt }: WorkshopState): boolean {
  if (pid <= 0 || Date.parse(updatedAt) < Date.now() - uptime() * 1_000) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It is there, and another user's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const kinds = { holds: 'pass', fails: 'fail', broken: 'broken', unknown: 'unknown' } as const;

/** What a room may see of it: before the prediction is taken nothing that answers the question. */
function viewOf(state: WorkshopState): WorkshopView {
  const { exercise, prediction, phase } = state;
  const { chosen, right } = prediction;
  const isAnswered = chosen !== undefined;
  // While it is judged anew, what was said before is said no longer.
  const isTold = isAnswered && phase !== 'judging';
  const { verdict, real } = isTold ? state : {};
  const verdicts: WorkshopVerdict[] = [
    ...(verdict ? [{ drill: null, verdict: kinds[verdict.kind], reason: withoutPaths(verdict.says) }] : []),
    ...(real?.drills ?? []).map((drill) => ({ ...drill, reason: withoutPaths(drill.reason) })),
  ];
  const { scope, steps } = verdict?.counterexample ?? {};
  return {
    number: exercise.number,
    title: exercise.title,
    question: prediction.question,
    answers: prediction.answers,
    chosen: chosen ?? null,
    right: isAnswered ? (right ?? null) : null,
    is: isAnswered ? standing(state, verdicts) : 'asked',
    verdicts,
    counterexample:
      scope === undefined || steps === undefined
        ? null
        : { scope, steps: steps.map(({ what, ...step }) => ({ ...step, what: withoutPaths(what) })) },
  };
}

function standing({ phase, isSolved }: WorkshopState, verdicts: WorkshopVerdict[]): WorkshopView['is'] {
  if (phase === 'judging' || phase === 'running') return phase;
  if (isSolved) return 'solved';
  if (verdicts.length === 0) return 'not judged';
  return verdicts.every(({ drill, verdict }) => drill === null && verdict === 'pass') ? 'to run' : 'not solved';
}
