// Plays the cells of the staircase in the virtual world, and compares each with what is expected.

import { describe, expect, test } from 'vitest';
import type { StepSentence } from '../../../../../loadtest/narration/steps.ts';
import { narratedInChinese } from '../../../../../loadtest/narration/steps.zh.ts';
import { drills } from '../../../../../loadtest/scenarios/index.ts';
import { hasNothingToBreak, verdictExpected } from '../../../../../loadtest/staircase/lookup.ts';
import { playDrill } from '../../../../../loadtest/worlds/simulated/play.ts';

/** It needs what the virtual world does not have: a stack of thousands of calls. */
const REAL_ONLY = ['long-wait'];

/** It takes as long as the others of a lock together: outage.test.ts alone plays it. */
export const OUTAGE = 'redis-outage';

/** A load that is small, and large enough for each lock to show its verdict. */
const settings = { requests: 16, connections: 4, units: 8, leaseMs: 400 };

/** A sentence that has no end, or half-width punctuation beside Han. */
const isNoChinese = (line: string) =>
  !/[\p{Script=Han}）].*。$/u.test(line) || /\p{Script=Han}\s?[,.:;?!()]|[,.:;?!()]\s?\p{Script=Han}/u.test(line);

/** The drills of a row of the staircase that the virtual world plays. */
export const drillsOf = (lock: string) =>
  drills.filter(({ name }) => !REAL_ONLY.includes(name) && !hasNothingToBreak(lock, name));

/** Plays under each of these locks the drills that are meant: all but the outage. */
export function playCells(locks: string[], isMeant = (name: string) => name !== OUTAGE) {
  describe.each(locks)('%s', (lock) => {
    const cells = drillsOf(lock).filter(({ name }) => isMeant(name));
    test.each(cells.map((drill) => ({ name: drill.name, drill })))('$name: as expected', async ({ name, drill }) => {
      const told: string[] = [];
      const narrate = async (sentence: StepSentence) => void told.push(narratedInChinese(sentence));
      const { verdict, reasons } = (await playDrill(drill, lock, { settings, narrate })).outcome;

      expect({ verdict, reasons }).toEqual({ verdict: verdictExpected(lock, name) ?? verdict, reasons });
      expect(told.filter(isNoChinese)).toEqual([]);
    });
  });
}
