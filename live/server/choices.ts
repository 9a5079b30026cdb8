// What a presenter can choose from: the stages, and the drills that can break them.

import { drills } from '../../loadtest/scenarios/index.ts';
import { lockStaircase } from '../../loadtest/staircase/locks.ts';
import { hasNothingToBreak } from '../../loadtest/staircase/lookup.ts';
import type { PresenterParts } from '../contract.ts';
import type { Questions } from '../questions.ts';

/** What can be played on real servers, and asked about: the rows of the staircase of the locks, in their order. */
export const playChoices = (questions: Questions): PresenterParts['choices'] =>
  Object.entries(lockStaircase.rows).map(([stage, { title }]) => ({
    stage,
    title,
    drills: drills.filter(({ name }) => !hasNothingToBreak(stage, name)).map(({ name }) => name),
    asked: questions[stage]?.map(({ drill }) => drill) ?? [],
  }));
