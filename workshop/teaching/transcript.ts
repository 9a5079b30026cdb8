// A scenario as a terminal shows it: what `npm run drill` prints, with the times of a playing in simulated time.

import { stripVTControlCharacters } from 'node:util';
import { narrated } from '../../loadtest/narration/steps.ts';
import { stageTold, stepTold, verdictTold } from '../../loadtest/report/terminal.ts';
import type { Scenario } from '../../loadtest/scenarios/read.ts';
import { asDrill } from '../../loadtest/scenarios/scenario.ts';
import { verdictExpected } from '../../loadtest/staircase/lookup.ts';
import { playDrill } from '../../loadtest/worlds/simulated/play.ts';
import { numberOf } from '../../locks/index.ts';

/** A page is no terminal: nothing is wrapped. */
const ONE_LINE = Number.POSITIVE_INFINITY;

/** The scenario under the lock as a block of text, and the command that prints it. It is shown whole. Rejects for a last sentence. */
export async function transcriptOf(page: Scenario, stage: string, last?: string): Promise<string> {
  if (last !== undefined) throw new Error(`${page.name}: a transcript is shown whole.`);
  const steps: string[] = [];
  const { outcome } = await playDrill(asDrill(page), stage, {
    async narrate(sentence, atMs) {
      steps.push(stepTold(narrated(sentence), atMs, ONE_LINE));
    },
  });
  const verdict = verdictTold(stage, { ...outcome, expected: verdictExpected(stage, page.name) }, ONE_LINE);
  const lines = [stageTold(stage, ONE_LINE), ...steps, ...verdict].map(stripVTControlCharacters);
  const command = `npm run drill -- ${page.name} --stage ${numberOf(stage) ?? stage}`;
  return ['```text', ...lines, '```', '', `_\`${command}\`, played in simulated time._`].join('\n');
}
