// A scenario as terminal output: what `npm run drill` prints, with the times of a run in simulated time.

import { stripVTControlCharacters } from 'node:util';
import { narrated } from '../../loadtest/narration/steps.ts';
import { stageTold, stepTold, verdictTold } from '../../loadtest/report/terminal.ts';
import type { Scenario } from '../../loadtest/scenarios/read.ts';
import { asDrill } from '../../loadtest/scenarios/scenario.ts';
import { verdictExpected } from '../../loadtest/staircase/lookup.ts';
import { playDrill } from '../../loadtest/worlds/simulated/play.ts';
import { numberOf } from '../../locks/index.ts';

/** Nothing is wrapped: a page is not a terminal. */
const ONE_LINE = Number.POSITIVE_INFINITY;

/** The complete output of the scenario under the lock, and the command that prints it. Rejects if a last sentence is given. */
export async function transcriptOf(page: Scenario, stage: string, last?: string): Promise<string> {
  if (last !== undefined) throw new Error(`${page.name}: a transcript is always complete.`);
  const steps: string[] = [];
  const { outcome } = await playDrill(asDrill(page), stage, {
    async narrate(sentence, atMs) {
      steps.push(stepTold(narrated(sentence), atMs, ONE_LINE));
    },
  });
  const verdict = verdictTold(
    stage,
    { ...outcome, drill: page.name, expected: verdictExpected(stage, page.name) },
    ONE_LINE,
  );
  const lines = [stageTold(stage, ONE_LINE), ...steps, ...verdict].map(stripVTControlCharacters);
  const command = `npm run drill -- ${page.name} --stage ${numberOf(stage) ?? stage}`;
  return ['```text', ...lines, '```', '', `_\`${command}\`, played in simulated time._`].join('\n');
}
