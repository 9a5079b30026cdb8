// Parses scenario files.

import type { StepHistory } from '../evidence/history.ts';
import type { Playing } from '../sentences/playing.ts';
import { type Ending, endings, meaningOf, type ScenarioOf, type Vocabulary } from '../sentences/sentence.ts';
import { ofLocks } from '../sentences/vocabulary.ts';

/** The prefix of the line below an ending. */
const IN_CHINESE = 'zh: ';

/** A scenario. */
export type Scenario = ScenarioOf<Playing, StepHistory>;

/** A scenario that can't be parsed. The message names the line and the nearest known sentence. */
export class ScenarioError extends Error {}

/**
 * Reads a scenario: its name, what it asks, its steps, when it holds, and what is said of a verdict, followed by the same in Chinese. A `#`
 * begins a comment. A paragraph ends where nothing depends on how long one talks. Throws ScenarioError.
 */
export const readScenario = (text: string): Scenario => readScenarioOf(ofLocks, text);

/** Parses a scenario with these sentences. Throws ScenarioError. */
export function readScenarioOf<On, Outcome>(known: Vocabulary<On, Outcome>, text: string): ScenarioOf<On, Outcome> {
  const lines = text.split('\n').map((line) => line.trim());
  const isBlank = (at: number) => lines.slice(at).find((line) => !line.startsWith('#')) === '';
  const [name = '', question = ''] = lines;
  const scenario: ScenarioOf<On, Outcome> = {
    name,
    question,
    needs: [],
    timing: {},
    steps: [],
    words: {},
    chinese: {},
  };
  let said: Ending | undefined;
  lines.forEach((line, index) => {
    if (index < 2 || line === '' || line.startsWith('#')) return;
    try {
      const ending = endings.find((each) => line.startsWith(`${each}: `));
      if (ending !== undefined) {
        scenario.words[ending] = line.slice(ending.length + 2);
        said = ending;
      } else if (said !== undefined && line.startsWith(IN_CHINESE))
        scenario.chinese[said] = line.slice(IN_CHINESE.length);
      else if (line.startsWith('holds when '))
        scenario.steps.at(-1)?.demands.push(meaningOf(line.slice('holds when '.length), known.demands));
      else
        scenario.steps.push({
          ...meaningOf(line, known.steps),
          line,
          endsParagraph: isBlank(index + 1),
          demands: [],
        });
    } catch (error) {
      throw new ScenarioError(`${name}, line ${index + 1}: ${(error as Error).message}`);
    }
  });
  if (!scenario.steps.at(-1)?.demands.length)
    throw new ScenarioError(`${name}: the last step has no "holds when" line.`);
  for (const { needs = [], timing, stock } of scenario.steps) {
    scenario.needs.push(...needs.filter((need) => !scenario.needs.includes(need)));
    Object.assign(scenario, { timing: { ...scenario.timing, ...timing } }, stock !== undefined && { stock });
  }
  return scenario;
}
