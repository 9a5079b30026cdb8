// Which stage and which drill are chosen.

import type { StackView, StageChoice } from '../contract.ts';

export interface Choice {
  stage: string;
  drill: string;
}

type Choices = readonly Pick<StageChoice, 'name' | 'before' | 'drills'>[];

/** The choice of a stage: with the drill that was chosen before where the stage has it, else with its first. */
export function chooseStage(choices: Choices, stage: string, drill: string): Choice {
  const drills = choices.find(({ name }) => name === stage)?.drills ?? [];
  const kept = drills.find(({ name }) => name === drill) ?? drills[0];
  return { stage, drill: kept?.name ?? '' };
}

/** What is chosen when the page opens: what is played, else the first stage with its first drill. */
export function firstChoice(choices: Choices, views: readonly Pick<StackView, 'stage' | 'drill'>[]): Choice {
  const [view] = views;
  const isKnown = view !== undefined && choices.some(({ name }) => name === view.stage);
  return chooseStage(choices, isKnown ? view.stage : (choices[0]?.name ?? ''), view?.drill ?? '');
}

/** The stage before, if the chosen drill can be played under it as well. */
export function stageBefore(choices: Choices, { stage, drill }: Choice): string | undefined {
  const before = choices.find(({ name }) => name === stage)?.before;
  const drills = choices.find(({ name }) => name === before)?.drills ?? [];
  return drills.some(({ name }) => name === drill) ? before : undefined;
}
