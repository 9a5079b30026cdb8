// Judges a file by the search: in a process of its own, which the file may end or keep busy for ever.

import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import type { Cell } from '../../prove/cell.ts';
import type { Step } from '../../prove/state.ts';
import { bundledArgs } from '../../scripts/stack/bundle.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import type { Exercise } from './exercise.ts';
import type { FromSearch, SearchTask } from './search-messages.ts';
import { reasonOf } from './steps.ts';

/** How long one scope may take, in seconds. A scope of an exercise takes one on a machine that has little else to do. */
const SCOPE_SECONDS = 20;
/** How often a sign of the process is looked for, in milliseconds: as often as it gives one. */
const LOOK_MS = 250;
/** A process that gives no sign for so many looks is kept busy by its lock. On a busy machine the looks are late as the signs are. */
const SILENT_LOOKS = 16;

export interface SearchVerdict {
  /**
   * `holds`: in every scope. `fails`: in one of them at least. `broken`: the file can't be judged as it is. `unknown`: not every order
   * of events was looked at.
   */
  kind: 'holds' | 'fails' | 'broken' | 'unknown';
  /** What was found, in sentences: why it fails, or why it can't be judged. */
  sentence: string;
  /** The scopes that were looked at, in the order of the exercise. */
  cells: Cell[];
  /** The first one that fails. */
  failed?: Cell;
}

export type SearchJudge = ReturnType<typeof openSearchJudge>;

/** A judge that keeps a process ready, so that the next verdict comes soon. */
export function openSearchJudge() {
  let spare: Promise<ChildProcess> | undefined;
  const running = new Set<ChildProcess>();
  let isClosed = false;

  async function start(): Promise<ChildProcess> {
    const node = await bundledArgs('exercises/workshop/search-process.ts');
    const [file = '', ...args] = node.toReversed();
    const child = fork(file, {
      execArgv: [...args.toReversed(), '--disable-warning=ExperimentalWarning', '--max-old-space-size=1200'],
      // What it would print is nothing for those who write the lock.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    if (isClosed) child.kill('SIGKILL');
    // Its first message says that it listens. One that ends before is found out by those who ask it.
    await new Promise((resolve) => child.once('message', resolve).once('exit', resolve));
    return child;
  }

  /** Has a process ready for the next verdict. */
  function makeReady() {
    if (isClosed) return;
    spare ??= start();
    // Who asks for it is told.
    spare.catch(() => {});
  }

  async function take(): Promise<ChildProcess> {
    const taken = spare ?? start();
    spare = undefined;
    const child = await taken;
    return child.exitCode === null && child.signalCode === null ? child : start();
  }

  /** Judges a file in the scopes of the exercise. Rejects with the reason of the signal when that aborts first. */
  async function judge(
    { settings: { search } }: Exercise,
    file: string,
    { signal }: { signal: AbortSignal },
  ): Promise<SearchVerdict> {
    if (search === undefined) throw new Error('This exercise is judged on real servers alone.');
    const missing = whyNothing(file);
    if (missing !== undefined) return { kind: 'broken', sentence: missing, cells: [] };
    const { scopes, processes, sales, atOnce } = search;
    const child = await take();
    try {
      const found = await ask(
        child,
        { file, scopes, processes, sales, isAtOnce: atOnce, seconds: SCOPE_SECONDS },
        signal,
      );
      return verdictOf(found, file);
    } finally {
      child.kill('SIGKILL');
      makeReady();
    }
  }

  return {
    makeReady,
    judge,
    /** Ends its processes. */
    close() {
      isClosed = true;
      for (const child of running) child.kill('SIGKILL');
    },
  };
}

interface Found {
  cells: Cell[];
  end: FromSearch | { type: 'silent' } | { type: 'ended' };
}

/** Sends the task, and collects what is sent back until the end, whatever that is. */
function ask(child: ChildProcess, task: SearchTask, signal: AbortSignal): Promise<Found> {
  return new Promise((resolve, reject) => {
    const cells: Cell[] = [];
    const end = (end: Found['end']) => settle(() => resolve({ cells, end }));
    const abort = () => settle(() => reject(signal.reason));
    let silentLooks = 0;
    const looking = setInterval(() => {
      silentLooks += 1;
      if (silentLooks === SILENT_LOOKS) end({ type: 'silent' });
    }, LOOK_MS);
    const hear = (message: FromSearch) => {
      silentLooks = 0;
      if (message.type === 'cell') cells.push(message.cell);
      else if (message.type !== 'alive' && message.type !== 'ready') end(message);
    };
    const exit = () => end({ type: 'ended' });
    function settle(how: () => void) {
      clearInterval(looking);
      child.off('message', hear).off('exit', exit);
      signal.removeEventListener('abort', abort);
      how();
    }
    child.on('message', hear).once('exit', exit);
    signal.addEventListener('abort', abort);
    if (signal.aborted) return abort();
    child.send(task, (error) => {
      if (error) exit();
    });
  });
}

function verdictOf({ cells, end }: Found, file: string): SearchVerdict {
  const broken = (sentence: string): SearchVerdict => ({ kind: 'broken', sentence, cells });
  const failed = cells.find(({ verdict }) => verdict === 'fails');
  const open = cells.find(({ verdict }) => verdict === 'unknown');
  if (end.type === 'problem') return broken(sentenceOfProblem(end.problem, file));
  if (failed) return { kind: 'fails', sentence: sentenceOnFailure(failed), cells, failed };
  if (end.type === 'silent')
    return broken(
      'The lock never comes back: it goes round in a loop that waits for nothing. The search has ended it.',
    );
  if (end.type === 'ended') return broken('The lock has ended the process that judged it, or has used up its memory.');
  if (end.type === 'restless')
    return broken(
      `A waiter sends ${end.command} again and again without a pause, so Redis and the search have no rest. Let it sleep for retryDelayMs between two tries.`,
    );
  if (open) return unknownOf(open, cells, file);
  return { kind: 'holds', sentence: 'It holds in every order of events that was asked for.', cells };
}

/** Why it fails, and what those have most often forgotten who see this error. */
function sentenceOnFailure(failed: Cell): string {
  const { counterexample = [] } = failed;
  const reason = reasonOf(failed);
  const isUncounted = ({ sent }: Step) =>
    /^EVAL/.test(String(sent?.command[0])) && !Number.isInteger(Number(sent?.command[2]));
  if (!counterexample.some(isUncounted)) return reason;
  return `${reason.replace(/\.?$/, '.')} eval needs the number of the keys as its second argument.`;
}

function unknownOf({ reason, uses, isCutAtHorizon }: Cell, cells: Cell[], file: string): SearchVerdict {
  if (uses !== undefined) return { kind: 'broken', sentence: sentenceOnUse(uses, file), cells };
  if (isCutAtHorizon)
    return {
      kind: 'unknown',
      sentence:
        'Somebody still waits or tries when the search ends, long after all should be over. Is the lock given up by every holder?',
      cells,
    };
  return {
    kind: 'unknown',
    sentence: `${reason} Wait until the machine has less to do, and save the file again.`,
    cells,
  };
}

/** Why there is nothing to judge in a file, as a sentence. */
export function whyNothing(file: string): string | undefined {
  const shown = relative(projectDir, file);
  const back = `To put it back as it was: npm run workshop -- reset ${basename(dirname(file)).slice(0, 2)}`;
  if (!existsSync(file)) return `${shown} is not there. ${back}`;
  if (readFileSync(file, 'utf8').trim() === '') return `${shown} is empty. ${back}`;
  return undefined;
}

/** What esbuild or Node said, as a sentence that begins with the place where it is known. */
function sentenceOfProblem(problem: string, file: string): string {
  const shown = relative(projectDir, file);
  const [, what = problem, place] = /^(.*) \((\S+:\d+)\)$/s.exec(problem) ?? [];
  const controlled = /^it (imports|uses) (.*), which the search does not control$/.exec(what);
  const where = place === undefined ? shown : relativePlace(place);
  if (controlled)
    return `${where}: it ${controlled[1]} ${controlled[2]}. The search can't control that, so it can't judge the lock.`;
  return `${where}: ${what.replace(/\.?$/, '.')}`;
}

/** The lock uses something that the search can't control: what, where, and what to do instead. */
function sentenceOnUse(used: string, file: string): string {
  const line = lineOfUse(used, file);
  const where = line === undefined ? `It uses ${used}.` : `Line ${line} uses ${used}.`;
  if (/\b(MULTI|EXEC|WATCH)\b/.test(used))
    return `${where} The search can't control a transaction, so it can't judge the lock. And what stands between MULTI and EXEC can't depend on what a GET among it answers: use a script.`;
  return `${where} The search can't control that, so it can't judge the lock: do it with Redis, timers and what the file is given.`;
}

/** The first line outside of comments that has the name of what is used: `Date` of `Date.now`, `MULTI` of `the command MULTI, which …`. */
function lineOfUse(used: string, file: string): number | undefined {
  const [, name = ''] = /^(?:the command |new |a )?(\w+)/.exec(used) ?? [];
  const lines = readFileSync(file, 'utf8').split('\n');
  const at = lines.findIndex((line) => new RegExp(`\\b${name}\\b`, 'i').test(line.replace(/^\s*(\/\/|\*|\/\*).*/, '')));
  return at < 0 ? undefined : at + 1;
}

/** A place is told from the folder of the project, wherever esbuild has counted from. */
function relativePlace(place: string): string {
  const at = place.lastIndexOf('exercises/');
  return at < 0 ? place : place.slice(at);
}
