// Plays the cells of the staircase in the virtual world, and compares each with what is taught and with what was measured.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { drills } from '../../../../loadtest/drills/index.ts';
import { hasNothingToBreak, taughtVerdict } from '../../../../loadtest/staircase/lookup.ts';
import { playDrill } from '../../../../loadtest/virtual/play.ts';

/** They need what the virtual world does not have: a replica that confirms, and a stack of thousands of calls. */
const REAL_ONLY = ['long-wait', 'wrong-replica'];

/** A load that is small, and large enough for each lock to show its verdict. */
const settings = { requests: 24, connections: 8, units: 12, leaseMs: 400 };

const signs = { pass: '✔', fail: '✘', unknown: '?', 'not-applicable': '–' };

const { staircase } = JSON.parse(
  readFileSync(new URL('../../../../docs/measured/figures.json', import.meta.url), 'utf8'),
) as { staircase: { signs: Record<string, Record<string, string>> } };

/** The drills of a row of the staircase that the virtual world plays. */
export const drillsOf = (lock: string) =>
  drills.filter(({ name }) => !REAL_ONLY.includes(name) && !hasNothingToBreak(lock, name));

/** Plays every drill under each of these locks. */
export function playCells(locks: string[]) {
  describe.each(locks)('%s', (lock) => {
    test.each(drillsOf(lock).map((drill) => ({ name: drill.name, drill })))(
      '$name: as expected, and as measured',
      async ({ name, drill }) => {
        const { outcome } = await playDrill(drill, lock, { settings });
        const { verdict, reasons } = outcome;
        const measured = staircase.signs[lock]?.[name];

        // What nobody has measured, or could not be carried where it was measured, is only taught.
        const isMeasured = measured !== undefined && measured !== '–';
        expect({ verdict, measured: isMeasured ? signs[verdict] : undefined, reasons }).toEqual({
          verdict: taughtVerdict(lock, name) ?? verdict,
          measured: isMeasured ? measured : undefined,
          reasons,
        });
      },
    );
  });
}
