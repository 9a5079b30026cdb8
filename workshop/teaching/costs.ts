// What a run does without when a part is missing: rows and columns of the staircases.

import { listOf } from '../../loadtest/narration/numbers.ts';
import { scenarios } from '../../loadtest/scenarios/index.ts';
import { lockStaircase } from '../../loadtest/staircase/lock-stages.ts';
import { staircases } from '../../loadtest/staircase/lookup.ts';
import { shortNameOf } from '../../loadtest/staircase/staircase.ts';
import { type Backend, replicasOf } from '../../locks/index.ts';

/** The drills that need a replica of Redis, in the order of the staircase. */
const drillsWithReplica = scenarios.filter(({ needs }) => needs.includes('replication')).map(({ name }) => name);

/** The locks that need a replica of Redis. */
const locksWithReplica = Object.keys(lockStaircase.rows).filter((name) => replicasOf(name) > 0);

/** What a run lacks without a Redis that knows replication. */
export function costOfNoReplica(): string {
  return `the drills ${listOf(drillsWithReplica)}, and the strategy ${listOf(locksWithReplica)}`;
}

/** What a run lacks without this server. */
export function costOfNo(backend: Backend): string {
  const needs = (row: string) => lockStaircase.rows[row]?.backends.includes(backend) ?? false;
  const names = Object.keys(lockStaircase.rows).filter(needs);
  return `${names.length === 1 ? 'the strategy' : 'the strategies'} ${listOf(names)}${ofOrders(backend)}`;
}

/** What the track of the orders lacks: all of it when each of its rows needs the server. */
function ofOrders(backend: Backend): string {
  const rows = staircases.filter((one) => one !== lockStaircase).flatMap((one) => Object.entries(one.rows));
  const lost = rows.filter(([, { backends }]) => backends.includes(backend));
  if (lost.length === 0) return '';
  if (lost.length === rows.length) return '; and the whole track of the orders';
  return `; and of the orders the row ${listOf(lost.map(([name]) => shortNameOf(name)))}`;
}
