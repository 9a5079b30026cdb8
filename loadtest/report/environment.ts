// How a run was set, and what it ran on.

import { formatDuration, formatMeasure, formatNumber } from '../evidence/numbers.ts';
import type { Results } from '../evidence/results.ts';

/** How a run was set and what it ran on, as pairs of a name and a value. */
export function environmentLines({ environment, settings }: Results): [name: string, value: string][] {
  const { node, os, cpus, redis, nginx, backends, commit, load } = environment;
  return [
    ['Requests of a rush', formatNumber(settings.requests)],
    ['Connections', formatNumber(settings.connections)],
    ['Stock of a rush', formatNumber(settings.stock)],
    ['Units of a sell-out', formatNumber(settings.units)],
    ['Lease of the drills step by step', formatDuration(settings.leaseMs)],
    ['Redis', `${redis.version}, ${redis.kind}`],
    ['nginx', nginx],
    ...Object.entries(backends).map(([name, version]): [string, string] => [name, version]),
    ['Node', node],
    ['System', os],
    ['CPUs', cpus],
    ...(load === undefined ? [] : [['Load when it began', formatMeasure(load)] as [string, string]]),
    ['Commit', commit],
  ];
}
