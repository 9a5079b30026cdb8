import { expect, test } from 'vitest';
import { strategies } from '../../../../../locks/index.ts';
import { isVirtual } from '../../../../../simulation/lock-service.ts';
import { judged, stages, waiting } from './chosen-locks.ts';
import { drillsOf } from './play-cells.ts';

test('cells: every lock that needs no server but Redis is played', () => {
  const locks = [...stages, ...waiting, ...judged];

  expect(locks.toSorted()).toEqual(Object.keys(strategies).filter(isVirtual).toSorted());
  expect(locks.flatMap(drillsOf)).toHaveLength(543);
});
