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
