// What a run skips when a part is missing: rows and columns of the result matrix.

import { listOf } from '../../loadtest/narration/numbers.ts';
import { scenarios } from '../../loadtest/scenarios/index.ts';
import { lockStaircase } from '../../loadtest/staircase/lock-stages.ts';
import { staircases } from '../../loadtest/staircase/lookup.ts';
import { shortNameOf } from '../../loadtest/staircase/staircase.ts';
import { type Backend, replicasOf } from '../../locks/index.ts';

/** The drills that need a Redis replica, in the order of the matrix. */
const drillsWithReplica = scenarios.filter(({ needs }) => needs.includes('replication')).map(({ name }) => name);

/** The locks that need a Redis replica. */
const locksWithReplica = Object.keys(lockStaircase.rows).filter((name) => replicasOf(name) > 0);

/** What a run skips without a Redis that supports replication. */
export function costOfNoReplica(): string {
  return `the drills ${listOf(drillsWithReplica)} and the strategy ${listOf(locksWithReplica)} are skipped`;
}

/** What a run skips without this server. */
export function costOfNo(backend: Backend): string {
  const needs = (row: string) => lockStaircase.rows[row]?.backends.includes(backend) ?? false;
  const names = Object.keys(lockStaircase.rows).filter(needs);
  const orders = ofOrders(backend);
  const nouns = names.length === 1 ? 'the strategy' : 'the strategies';
  return `${nouns} ${listOf(names)}${orders} ${names.length === 1 && orders === '' ? 'is' : 'are'} skipped`;
}

/** What the orders track skips: everything, if each of its rows needs the server. */
function ofOrders(backend: Backend): string {
  const rows = staircases.filter((one) => one !== lockStaircase).flatMap((one) => Object.entries(one.rows));
  const lost = rows.filter(([, { backends }]) => backends.includes(backend));
  if (lost.length === 0) return '';
  if (lost.length === rows.length) return ' and the whole orders track';
  return ` and the row ${listOf(lost.map(([name]) => shortNameOf(name)))} of the orders track`;
}
