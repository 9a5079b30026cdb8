// Watches the signs of life of a process or node. When they stop, its CPU time tells whether its lock keeps it busy.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface SilenceLimits {
  /** What it may compute without a sign, in milliseconds of CPU time. */
  keptMs: number;
  /** How long it may give no sign, in milliseconds, when it does not compute. */
  silenceMs: number;
}

/** What a silence means for the lock, with the reason as a sentence. */
export interface Silence {
  verdict: 'fail' | 'unknown';
  reasons: string[];
}

/** How often a playing process sends a sign of life, in milliseconds: a lock that never returns prevents it. */
export const SIGN_EVERY_MS = 500;
/** The usual limits. Even a correct library may compute for a second without a pause. */
export const usualLimits: SilenceLimits = { keptMs: 10_000, silenceMs: 60_000 };

const KEPT = 'The lock never returns: it keeps its process busy for ever, as a blocked event loop does.';
const SILENT =
  'The process showed no sign of life, but used no CPU time either: the lock waits for something, or the machine is too busy.';

/**
 * Calls back once when a process that has given a sign gives none any more: it has computed for so long, and its lock fails, or there is no
 * telling why.
 */
export function watchSilence(
  pidOf: () => number,
  { keptMs, silenceMs }: SilenceLimits,
  callBack: (found: Silence) => void,
) {
  /** Looks are counted, and not time: this process may stand still, too. Until it has given a sign, the process starts. */
  let looks: number | undefined;
  /** The CPU time at the first look without a sign. */
  let cpuMs: number | undefined;

  function look() {
    if (looks === undefined) return;
    looks += 1;
    if (looks === 1) return;
    const usedMs = cpuMsOf(pidOf());
    cpuMs ??= usedMs;
    if (usedMs !== undefined && cpuMs !== undefined && usedMs - cpuMs > keptMs) end('fail', KEPT);
    else if (looks * SIGN_EVERY_MS > silenceMs) end('unknown', SILENT);
  }

  function end(verdict: 'fail' | 'unknown', reason: string) {
    close();
    callBack({ verdict, reasons: [reason] });
  }

  const timer = setInterval(look, SIGN_EVERY_MS);
  const close = () => clearInterval(timer);
  return {
    hearSign() {
      looks = 0;
      cpuMs = undefined;
    },
    close,
  };
}

/** A tick of /proc in milliseconds: Linux tells every program that there are 100 in a second. */
const TICK_MS = 10;

/** How much CPU time a process has used so far, in milliseconds. Undefined when it is gone, or the system does not tell. */
function cpuMsOf(pid: number): number | undefined {
  try {
    if (process.platform === 'linux') return ticksIn(readFileSync(`/proc/${pid}/stat`, 'utf8')) * TICK_MS;
    return secondsIn(execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' })) * 1_000;
  } catch {
    return undefined;
  }
}

/** User and system time of a process, in its line of /proc. Its name may hold spaces and brackets. */
function ticksIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** What `ps` tells: `0:12.34`, `1:02:03`. */
const secondsIn = (time: string) => time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
