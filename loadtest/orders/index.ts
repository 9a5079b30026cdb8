// The drills of the orders. Each is a scenario that plays on real servers, because the simulation has no MySQL.

import { readFileSync } from 'node:fs';
import { type Drill, notApplicable } from '../harness/drill.ts';
import { play, playAgain } from '../harness/play.ts';
import { lackOf } from '../harness/target.ts';
import { because } from '../narration/reasons.ts';
import { playScenario } from '../scenarios/play.ts';
import { readScenarioOf } from '../scenarios/read.ts';
import { exerciseDrillNames } from '../staircase/exercises.ts';
import { hasNothingToBreak } from '../staircase/lookup.ts';
import type { Staircase } from '../staircase/staircase.ts';
import * as cleanUp from './clean-up.ts';
import * as payments from './payments.ts';
import { beginPlaying, commonSteps } from './playing.ts';
import * as purchases from './purchases.ts';
import { openShop } from './shop.ts';
import * as stores from './stores.ts';

const folder = new URL('.', import.meta.url);
const kinds = [cleanUp, purchases, payments, stores];
const known = {
  steps: [...commonSteps, ...kinds.flatMap(({ steps }) => steps)],
  demands: kinds.flatMap(({ demands }) => demands),
};

/**
 * A drill, by its name. It is played again when the harness stood still for a quarter of a lease, or when the fault could not be staged: a
 * node or MySQL that did not answer in time may answer the next time.
 */
function drillOf(name: string): Drill {
  const scenario = readScenarioOf(known, readFileSync(new URL(`${name}.txt`, folder), 'utf8'));
  return {
    name,
    kind: 'steps',
    async run({ target, stage, settings, signal, narrate, tries }) {
      if (hasNothingToBreak(stage, name)) return notApplicable(because('nothing to break under', { stage }));
      const lacking = lackOf(target, stage, ['own mysql', ...scenario.needs]);
      if (lacking !== undefined) return notApplicable(lacking);
      const { leaseMs = settings.leaseMs } = scenario.timing;
      async function playOnce() {
        const shop = await openShop({ target, stage, leaseMs, signal, narrate });
        return play(shop, playScenario(scenario, beginPlaying(shop)), signal);
      }
      return playAgain(playOnce, { wrongMs: leaseMs / 4, hinderingMs: 0, tries, narrate });
    },
  };
}

/** The drills of a result matrix of the orders, in the order of its columns. */
export const drillsIn = ({ columns }: Staircase): Drill[] => Object.keys(columns).map(drillOf);
/** Drills outside the result matrices: they judge the solutions of exercises. */
export const exerciseDrills: Drill[] = exerciseDrillNames.map(drillOf);
