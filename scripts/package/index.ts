// The exports of the package `lockstep`: the lock contract as types, and the functions grade and judge.

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import {
  type Judgement,
  judgementSchema,
  type WrittenResults as Results,
  resultsSchema,
} from '../../loadtest/evidence/results.ts';

export type { CreateLock, Lock, LockOptions, RedisClient } from '../../locks/lock.ts';
export { LockNotHeldError } from '../../locks/lock.ts';
export type { Judgement, Results };

export interface Options {
  /** The command's arguments, such as `--drill` and `rush`. */
  flags?: string[];
  /** Ends the run when it aborts. */
  signal?: AbortSignal;
}

/**
 * Grades the locks of these modules like `lockstep grade`, in a separate process. Resolves with the results, whatever the
 * verdict; rejects with what was printed when there are none.
 */
export async function grade(files: string | string[], options?: Options): Promise<Results> {
  return resultsSchema.parse(await resultOf('grade', [files].flat(), options));
}

/**
 * Judges two copies of the service that this command starts, like `lockstep judge`, in a separate process. Resolves and rejects
 * like `grade` does.
 */
export async function judge(service: string, options?: Options): Promise<Judgement> {
  return judgementSchema.parse(await resultOf('judge', [service], options));
}

const commandLine = fileURLToPath(new URL('../scripts/lockstep.mjs', import.meta.url));

/** The command's JSON output. The verdict is in it, so the exit code is ignored. */
function resultOf(command: string, args: string[], { flags = [], signal }: Options = {}): Promise<unknown> {
  const node = ['--disable-warning=ExperimentalWarning', '--enable-source-maps', commandLine];
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [...node, command, ...args, ...flags, '--json'],
      { signal, maxBuffer: Number.POSITIVE_INFINITY, env: { ...process.env, INIT_CWD: process.cwd() } },
      (error, stdout, stderr) =>
        stdout === '' ? reject(new Error(stderr.trim(), { cause: error })) : resolve(JSON.parse(stdout)),
    );
  });
}
