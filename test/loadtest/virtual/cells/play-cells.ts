// Plays the cells of the staircase in the virtual world, and compares each with what is taught.

import { describe, expect, test } from 'vitest';
import { drills } from '../../../../loadtest/drills/index.ts';
import { hasNothingToBreak, taughtVerdict } from '../../../../loadtest/staircase/lookup.ts';
import { playDrill } from '../../../../loadtest/virtual/play.ts';

/** They need what the virtual world does not have: a replica that confirms, and a stack of thousands of calls. */
const REAL_ONLY = ['long-wait', 'wrong-replica'];

/** A load that is small, and large enough for each lock to show its verdict. */
const settings = { requests: 24, connections: 8, units: 12, leaseMs: 400 };

/** The drills of a row of the staircase that the virtual world plays. */
export const drillsOf = (lock: string) =>
  drills.filter(({ name }) => !REAL_ONLY.includes(name) && !hasNothingToBreak(lock, name));

/** Plays every drill under each of these locks. */
export function playCells(locks: string[]) {
  describe.each(locks)('%s', (lock) => {
    test.each(drillsOf(lock).map((drill) => ({ name: drill.name, drill })))(
      '$name: as expected',
      async ({ name, drill }) => {
        const { verdict, reasons } = (await playDrill(drill, lock, { settings })).outcome;

        expect({ verdict, reasons }).toEqual({ verdict: taughtVerdict(lock, name) ?? verdict, reasons });
      },
    );
  });
}
