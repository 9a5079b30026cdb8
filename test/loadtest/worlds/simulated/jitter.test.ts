import { afterAll, expect, test } from 'vitest';
import { drills } from '../../../../loadtest/scenarios/index.ts';
import { isNeverWrong } from './jitter.ts';

/** A drill for each kind of step, under a lock that passes it and one that fails it. More of them: test/soak/jitter.test.ts. */
const table: Record<string, string[]> = {
  'crashed-holder': ['3-spin', '8-auto-renew'],
  'hung-holder': ['7-reentrant', '8-auto-renew'],
  'slow-holder': ['4-ttl', '5-owner-check'],
  'late-release': ['5-owner-check', '6-lua-release'],
  'nested-call': ['6-lua-release', '7-reentrant'],
  'long-sale': ['7-reentrant', '8-auto-renew'],
  'paused-process': ['8-auto-renew', 'fenced'],
  'blocked-loop': ['8-auto-renew', 'fenced'],
  partition: ['8-auto-renew', 'fenced'],
  'crossed-write': ['fenced-writes', 'fenced'],
  'client-gone': ['8-auto-renew'],
  overtaking: ['8-auto-renew', 'fair'],
  'clock-jump': ['3-spin', 'redlock'],
};
const SEEDS = 2;
const cells = Object.entries(table).flatMap(([name, locks]) => locks.map((lock) => ({ name, lock })));

let judged = 0;

test.each(cells)('$name under $lock: standstills make it unknown, and never change its verdict', async (cell) => {
  const drill = drills.find(({ name }) => name === cell.name);
  if (drill === undefined) throw new Error(`There is no drill ${cell.name}.`);
  const seeds = Array.from({ length: SEEDS }, (_, seed) => SEEDS * cells.indexOf(cell) + seed);

  judged += await isNeverWrong(drill, cell.lock, seeds);
});

// Some of them are judged all the same, and some are not.
afterAll(() => {
  expect(judged).toBeGreaterThan(0);
  expect(judged).toBeLessThan(SEEDS * cells.length);
});
