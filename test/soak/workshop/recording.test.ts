// What was recorded of real servers has the same beats as the simulation, under each stage, where the simulation decides them.

import { describe, expect, test } from 'vitest';
import type { Drill } from '../../../loadtest/harness/drill.ts';
import { drills } from '../../../loadtest/scenarios/index.ts';
import { readScenario } from '../../../loadtest/scenarios/read.ts';
import { asDrill } from '../../../loadtest/scenarios/scenario.ts';
import { hasNothingToBreak } from '../../../loadtest/staircase/lookup.ts';
import { strategies } from '../../../locks/index.ts';
import { ownTargets } from '../../loadtest/drills/own-targets.ts';
import { deedsOf, inSimulation, onRealServers } from '../../workshop/server/both-worlds.ts';

const twoBuyers = asDrill(
  readScenario(`two-buyers
Is a unit sold twice?

A sells at node-1 and is held inside
B sells at node-2 and is held inside, or waits for 300 ms
A resumes
A ends
B resumes
all sales end

holds when no sale is lost
if it fails: A unit was sold twice.
`),
);
const named = (name: string) => drills.find((drill) => drill.name === name) as Drill;
/** Those whose deeds are compared; all of them where none are named. */
const pages: [drill: Drill, decided?: string[]][] = [
  [twoBuyers],
  [named('crashed-holder')],
  [named('paused-process')],
  [named('late-release'), ['A']],
];

const { target } = ownTargets([], { readsReplies: true });

describe.each(Object.keys(strategies).filter((name) => /^\d|^fenced$/.test(name)))('%s', (stage) => {
  test.each(pages.filter(([{ name }]) => !hasNothingToBreak(stage, name)))('$name', async (drill, decided) => {
    const simulated = deedsOf(await inSimulation(stage, drill), stage);
    const real = deedsOf(await onRealServers(target(), stage, drill), stage);

    for (const sale of decided ?? Object.keys(simulated)) expect([sale, real[sale]]).toEqual([sale, simulated[sale]]);
  });
});
