// The scenarios that can be played on real servers.

import type { Drill } from '../../loadtest/harness/drill.ts';
import { drills, scenario } from '../../loadtest/scenarios/index.ts';
import { asDrill } from '../../loadtest/scenarios/scenario.ts';
import { lockStaircase } from '../../loadtest/staircase/lock-stages.ts';
import { hasNothingToBreak } from '../../loadtest/staircase/lookup.ts';
import type { PresenterParts } from '../page/protocol.ts';
import type { Questions } from './questions.ts';

/** What can be played and asked about: the rows of the locks' result matrix, in order. */
export const playChoices = (questions: Questions): PresenterParts['choices'] =>
  Object.entries(lockStaircase.rows).map(([stage, { title }]) => ({
    stage,
    title,
    drills: drills.filter(({ name }) => !hasNothingToBreak(stage, name)).map(({ name }) => name),
    asked: questions[stage]?.map(({ drill }) => drill) ?? [],
  }));

/** A scenario that only the lesson plays. */
const ofLesson = asDrill(scenario('patient-buyer'));

/** The scenario, if it can break something under this stage. */
export function scenarioUnder(stage: string, scenario: string): Drill | undefined {
  return [...drills, ofLesson].find(({ name }) => name === scenario && !hasNothingToBreak(stage, name));
}
