// A process that plays a cell, or a node, sends heartbeats. When they stop, its CPU time shows whether its lock blocks it.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export interface SilenceLimits {
  /** How much CPU time it may use without a heartbeat, in milliseconds. */
  keptMs: number;
  /** How long it may stay silent if it uses no CPU, in milliseconds. */
  silenceMs: number;
}

/** What the silence says about the lock, with the reason as a sentence. */
export interface Silence {
  verdict: 'fail' | 'unknown';
  reasons: string[];
}

/** The interval of a process's heartbeats, in milliseconds: a lock that never returns prevents them. */
export const SIGN_EVERY_MS = 500;
/** A correct library may compute for a second without a break. */
export const usualLimits: SilenceLimits = { keptMs: 10_000, silenceMs: 60_000 };

const KEPT = 'The lock never returns: it blocks its process forever, like a blocked event loop.';
const SILENT =
  'The process sent no heartbeat and used no CPU: the lock is waiting for something, or the machine is too busy.';

/**
 *
 * Calls back once when a process's heartbeats stop: either it computed for too long, so its lock fails, or the reason is
 * unknown.
 *
 */
export function watchSilence(
  pidOf: () => number,
  { keptMs, silenceMs }: SilenceLimits,
  callBack: (found: Silence) => void,
) {
  /**
   * Counts checks instead of time, because this process may be paused too. Before its first heartbeat, the process is starting.
   */
  let looks: number | undefined;
  /** The CPU time at the first check without a heartbeat. */
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

/** A clock tick of /proc in milliseconds: Linux reports 100 per second to every program. */
const TICK_MS = 10;

/** The CPU time that a process has used, in milliseconds. Undefined if it is gone, or the system does not report it. */
function cpuMsOf(pid: number): number | undefined {
  try {
    if (process.platform === 'linux') return ticksIn(readFileSync(`/proc/${pid}/stat`, 'utf8')) * TICK_MS;
    return secondsIn(execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' })) * 1_000;
  } catch {
    return undefined;
  }
}

/** User and system time of a process, from its line in /proc. Its name may contain spaces and brackets. */
function ticksIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** A time from `ps`: `0:12.34`, `1:02:03`. */
const secondsIn = (time: string) => time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
