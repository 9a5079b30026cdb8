import { expect, test } from 'vitest';
import { plan, provableLocks, scopeNames, usualLocks, type Wanted } from '../../../loadtest/prove/plan.ts';
import { workersFor } from '../../../prove/prover.ts';

const common: Omit<Wanted, 'locks'> = { scopes: scopeNames, processes: [2], sales: 1, budget: {} };
const scopesOf = (locks: Wanted['locks'], isOfAll = false) =>
  plan({ ...common, locks, isOfAll }).map(({ scope }) => scope);
const lockNamed = (name: string) => provableLocks.filter(({ stage }) => stage === name);

const external = { stage: 'my-lock', file: '/my-lock.ts', masters: 0 };

test('plan: a cell whose verdict would be empty is not looked at; an external lock is asked everything', () => {
  const ofOneServer = scopesOf(lockNamed('8-auto-renew'));
  const absent = (stage: string) => ofOneServer.filter((scope) => !scopesOf(lockNamed(stage)).includes(scope));

  expect(absent('0-none')).toEqual(['slow-holder', 'late-release', 'client-gone']);
  expect(absent('1-in-process')).toEqual(['slow-holder', 'late-release']);
  expect(absent('3-spin')).toEqual([]);
  expect(scopesOf([external]).toSorted()).toEqual(ofOneServer.toSorted());
});

test('plan: a scope of several skus is for the locks that take several', () => {
  const asked = provableLocks.filter((lock) => scopesOf([lock]).includes('crossed-skus'));

  expect(asked.map(({ stage }) => stage)).toEqual(['multi']);
  expect(scopesOf([external])).not.toContain('crossed-skus');
  expect(scopesOf([{ ...external, sellsBaskets: true }])).toContain('crossed-skus');
  // It is all that is looked at of a lock whose lock of one sku is another's.
  expect(scopesOf(lockNamed('multi'), true)).toEqual(['crossed-skus']);
  expect(scopesOf(lockNamed('multi')).length).toBe(scopesOf(lockNamed('fenced')).length + 1);
});

test('plan: with three processes a run of all locks leaves out those that have too many states, except where a scope is for them', () => {
  const cells = plan({ ...common, locks: usualLocks, processes: [2, 3], isOfAll: true }).filter(
    ({ processes }) => processes === 3,
  );

  expect(cells.filter(({ stage }) => stage === 'buckets').map(({ scope }) => scope)).toEqual(['put-back']);
  expect(cells.some(({ stage }) => stage === 'blocking')).toBe(false);
  expect(cells.some(({ stage }) => stage === 'fenced')).toBe(true);
});

test.each([
  [2, 16e9, 2],
  [8, 2.5e9, 3],
  [8, 0.5e9, 1],
])('prover: %i cores and %i free bytes: %i processes', (cores, freeBytes, processes) => {
  expect(workersFor(cores, freeBytes)).toBe(processes);
});
