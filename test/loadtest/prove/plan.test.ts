import { describe, expect, test } from 'vitest';
import { plan, provableLocks, scopeNames, type Wanted } from '../../../loadtest/prove/plan.ts';

const common: Omit<Wanted, 'locks'> = { scopes: scopeNames, processes: [2], sales: 1, budget: {}, isSplit: false };
const scopesOf = (locks: Wanted['locks']) => plan({ ...common, locks }).map(({ scope }) => scope);
const lockNamed = (name: string) => provableLocks.filter(({ stage }) => stage === name);

describe('plan: a cell whose verdict would be empty is not looked at', () => {
  test.each([
    ['0-none', ['slow-holder', 'late-release', 'client-gone']],
    ['1-in-process', ['slow-holder', 'late-release']],
    ['3-spin', []],
  ])('%s', (stage, absent) => {
    const ofOneServer = scopesOf(lockNamed('8-auto-renew'));

    expect(ofOneServer.filter((scope) => !scopesOf(lockNamed(stage)).includes(scope))).toEqual(absent);
  });

  test('an external lock is asked everything, whatever its name', () => {
    expect(scopesOf([{ stage: 'my-lock', file: '/my-lock.ts', masters: 0 }]).toSorted()).toEqual(
      scopesOf(lockNamed('8-auto-renew')).toSorted(),
    );
  });
});

describe('plan: a scope of several skus', () => {
  test('is for the locks that take several', () => {
    const asked = provableLocks.filter((lock) => scopesOf([lock]).includes('crossed-skus'));

    expect(asked.map(({ stage }) => stage)).toEqual(['multi']);
  });

  test('is for an external lock that is said to take several', () => {
    const external = { stage: 'my-lock', file: '/my-lock.ts', masters: 0 };

    expect(scopesOf([external])).not.toContain('crossed-skus');
    expect(scopesOf([{ ...external, sellsBaskets: true }])).toContain('crossed-skus');
  });

  test('is all that is looked at of a lock whose lock of one sku is another’s', () => {
    expect(scopesOf(lockNamed('multi').map((lock) => ({ ...lock, isForBasketsAlone: true })))).toEqual([
      'crossed-skus',
    ]);
    expect(scopesOf(lockNamed('multi')).length).toBe(scopesOf(lockNamed('fenced')).length + 1);
  });
});
