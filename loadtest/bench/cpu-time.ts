// CPU time: what processes have used so far, and how much that is per acquisition.

import { readdirSync, readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { sum } from '../narration/numbers.ts';

/** A tick of /proc in microseconds: Linux tells every program that there are 100 in a second. */
const TICK_MICROS = 10_000;

/** CPU time in microseconds, part by part. What could not be measured is absent, or NaN. */
export type CpuTime = { [part in 'processes' | 'nginx' | 'redis']?: number };

/** The CPU time of each part between two samples, per acquisition. A part that is missing in one of them is left out. */
export function cpuPerAcquisition(before: CpuTime, after: CpuTime, acquired: number): CpuTime {
  const parts = Object.keys(after) as (keyof CpuTime)[];
  const used = parts.map((part) => [part, (Number(after[part]) - Number(before[part])) / acquired] as const);
  return Object.fromEntries(used.filter(([, micros]) => Number.isFinite(micros)));
}

/** CPU time of a Redis from its reply to INFO cpu, without its children. NaN if it is missing. */
export function redisCpuIn(info: string): number {
  const seconds = [...info.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)].map(([, value]) => Number(value));
  return seconds.length === 2 ? sum(seconds) * 1e6 : Number.NaN;
}

/** CPU time of several Redis servers together. NaN if there are none. */
export async function redisCpu(clients: Redis[]): Promise<number> {
  if (clients.length === 0) return Number.NaN;
  return sum(await Promise.all(clients.map(async (client) => redisCpuIn(await client.info('cpu')))));
}

/** CPU time of a node from its `/metrics`. NaN if it is missing. */
export function nodeCpuIn(metrics: string): number {
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(metrics)?.[1]) * 1e6;
}

/** CPU time of all processes of a process group, in microseconds. NaN on a system other than Linux, which has no /proc. */
export function groupCpu(group: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readStat(`/proc/${pid}/stat`));
  return sum(stats.map((stat) => ticksIn(stat, group))) * TICK_MICROS;
}

/** The ticks that a process has used, in its line of /proc, if it is of this group. Its name may hold spaces and brackets. */
export function ticksIn(stat: string, group: number): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [processGroup, user, system] = [fields[2], fields[11], fields[12]].map(Number);
  return processGroup === group ? Number(user) + Number(system) : 0;
}

function readStat(file: string) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The process has ended meanwhile.
    return '';
  }
}
