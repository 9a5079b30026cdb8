// Plays a scenario from its first line to its verdict.

import { NotStagedError } from '../evidence/not-staged.ts';
import type { Clock, Timer } from '../harness/clock.ts';
import { type Judgement, StuckError } from '../harness/play.ts';
import { because } from '../narration/reasons.ts';
import type { Ending, Finding, Playable, ScenarioOf } from '../sentences/sentence.ts';

/** How long a drill may make no progress, in milliseconds. The longest step takes less. */
const SILENCE_LIMIT_MS = 180_000;

/** Plays the scenario. It ends at the first failure. Throws NotStagedError when nothing can be concluded. */
export async function playScenario<On extends Playable<Outcome>, Outcome>(
  scenario: ScenarioOf<On, Outcome>,
  playing: On,
): Promise<Judgement> {
  const findings: Finding[] = [];
  for (const { line, endsParagraph, act, demands } of scenario.steps) {
    if (act) await playing.say(await inTime(playing, act(playing)), endsParagraph, line);
    if (demands.length > 0) findings.push(...(await inTime(playing, judge<On, Outcome>(demands, playing))));
    if (findings.some(isWrong)) break;
  }
  return conclude(scenario, findings, playing);
}

/** Settles as the step does. Rejects when that takes too long: it waits for something that never comes. */
export function inTime<T>({ clock }: { clock: Clock }, step: Promise<T>): Promise<T> {
  let timer: Timer;
  const late = new Promise<never>((_, reject) => {
    const reason = because('no further', { ms: SILENCE_LIMIT_MS });
    timer = clock.startTimer(() => reject(new StuckError(reason, step)), SILENCE_LIMIT_MS);
  });
  return Promise.race([step, late]).finally(() => clock.stopTimer(timer));
}

const isWrong = ({ wrong }: Finding) => [wrong].flat().some(Boolean);

/** The finding for each demand. Throws NotStagedError when nothing can be concluded. */
async function judge<On extends Playable<Outcome>, Outcome>(
  demands: ScenarioOf<On, Outcome>['steps'][number]['demands'],
  playing: On,
): Promise<Finding[]> {
  const outcome = await playing.outcome();
  for (const look of playing.evidence) await look(outcome);
  const findings: Finding[] = [];
  for (const demand of demands) {
    try {
      findings.push(await demand(playing, outcome));
    } catch (error) {
      // What is wrong already stays so.
      if (!(error instanceof NotStagedError) || !findings.some(isWrong)) throw error;
    }
  }
  return findings;
}

function conclude(
  { words, chinese }: Pick<ScenarioOf<never, never>, 'words' | 'chinese'>,
  findings: Finding[],
  { ending = 'if it holds', figures = {} }: Pick<Playable<never>, 'ending' | 'figures'>,
): Judgement {
  const fails = findings.some(isWrong);
  const said = (on: Ending) => {
    const text = words[on];
    return text === undefined ? [] : [because('page', { text, zh: chinese[on] })];
  };
  const says = fails
    ? [...findings.map(({ wrong }) => wrong), ...said(findings.find(({ ending }) => ending)?.ending ?? 'if it fails')]
    : [...findings.map(({ right }) => right), ...said(words[ending] === undefined ? 'if it holds' : ending)];
  const isJudged = findings.find((finding) => finding.isJudged)?.isJudged;
  return {
    verdict: fails ? 'fail' : 'pass',
    says: says.flatMap((each) => each || []),
    figures: largest([figures, ...findings.map(({ figures = {} }) => figures)]),
    evidence: findings.flatMap(({ evidence = [] }) => evidence),
    ...(isJudged && { isJudged }),
  };
}

/** The figures of several findings together: the largest value of each. */
function largest(all: Record<string, number>[]): Record<string, number> {
  const merged: Record<string, number> = {};
  for (const [name, value] of all.flatMap((figures) => Object.entries(figures))) {
    merged[name] = Math.max(value, merged[name] ?? Number.NEGATIVE_INFINITY);
  }
  return merged;
}
