// What can be played on real servers, and the lines of a scenario that are told to an audience.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Drill } from '../../loadtest/harness/drill.ts';
import { drills } from '../../loadtest/scenarios/index.ts';
import { readPage } from '../../loadtest/scenarios/page.ts';
import { asDrill } from '../../loadtest/scenarios/scenario.ts';
import { lockStaircase } from '../../loadtest/staircase/locks.ts';
import { hasNothingToBreak } from '../../loadtest/staircase/lookup.ts';
import { projectDir } from '../../scripts/stack/parts.ts';
import type { PresenterParts } from '../contract.ts';
import type { Questions } from '../questions.ts';

/** What can be played, and asked about: the rows of the staircase of the locks, in their order. */
export const playChoices = (questions: Questions): PresenterParts['choices'] =>
  Object.entries(lockStaircase.rows).map(([stage, { title }]) => ({
    stage,
    title,
    drills: drills.filter(({ name }) => !hasNothingToBreak(stage, name)).map(({ name }) => name),
    asked: questions[stage]?.map(({ drill }) => drill) ?? [],
  }));

/** One that the lesson alone plays. */
const ofLesson = asDrill(readPage(textOf('patient-buyer')));

/** The scenario, if it has something to break under this stage. */
export function scenarioUnder(stage: string, scenario: string): Drill | undefined {
  return [...drills, ofLesson].find(({ name }) => name === scenario && !hasNothingToBreak(stage, name));
}

/** None of a load, which has no sentences. */
export function linesOf(scenario: string): string[] {
  const lines = textOf(scenario).split('\n');
  return lines.map((line) => line.replace(/^> /, '')).filter(Boolean);
}

function textOf(scenario: string): string {
  const places = ['loadtest/scenarios', 'live/page'].map((folder) => join(projectDir, folder, `${scenario}.txt`));
  const file = places.find((place) => existsSync(place));
  return file === undefined ? '' : readFileSync(file, 'utf8');
}
