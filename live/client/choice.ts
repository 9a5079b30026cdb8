// Which stage and which drill are chosen.

import type { StackView, StageChoice } from '../contract.ts';

export interface Choice {
  stage: string;
  drill: string;
}

type Choices = readonly Pick<StageChoice, 'name' | 'before' | 'drills'>[];

/** Many buyers at once: what the lesson begins with. */
const OPENING = 'rush';

/** The choice of a stage: with the drill that was chosen before where the stage has it, else with the rush, else with its first. */
export function chooseStage(choices: Choices, stage: string, drill: string): Choice {
  const drills = choices.find(({ name }) => name === stage)?.drills ?? [];
  const kept = [drill, OPENING, drills[0]?.name].find((wanted) => drills.some(({ name }) => name === wanted));
  return { stage, drill: kept ?? '' };
}

/**
 * What is played, as a choice: of two stages side by side the one that comes after the other. When nothing is played it is the rush
 * under the first stage.
 */
export function playedChoice(choices: Choices, views: readonly Pick<StackView, 'stage' | 'drill'>[]): Choice {
  const beforeOf = (stage: string) => choices.find(({ name }) => name === stage)?.before;
  const known = views.filter(({ stage }) => choices.some(({ name }) => name === stage));
  const view = known.find(({ stage }) => known.some((other) => other.stage === beforeOf(stage))) ?? known[0];
  return chooseStage(choices, view?.stage ?? choices[0]?.name ?? '', view?.drill ?? '');
}

/** The stage before, if the chosen drill can be played under it as well. */
export function stageBefore(choices: Choices, { stage, drill }: Choice): string | undefined {
  const before = choices.find(({ name }) => name === stage)?.before;
  const drills = choices.find(({ name }) => name === before)?.drills ?? [];
  return drills.some(({ name }) => name === drill) ? before : undefined;
}
