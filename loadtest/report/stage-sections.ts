// The sections of the page that go stage by stage.

import { stripVTControlCharacters } from 'node:util';
import { type DrillResult, type Results, type StageResult, stepFigures } from '../evidence/results.ts';
import { formatDuration, formatNumber } from '../narration/numbers.ts';
import { standingOf } from '../staircase/judge-run.ts';
import { columnOf, fixes, isExternal, rowOf } from '../staircase/lookup.ts';
import { keyFigure, measuredRushes, questionOf, ranStaircases, sharesOf, whyNotPromised } from './cells.ts';
import { pairsOf } from './document.ts';
import { type Html, html, trusted } from './escape.ts';
import { figureCell, shownFigures } from './figures.ts';
import { anchor, beyondPromise, markOf, words } from './marks.ts';
import { wireTable } from './service.ts';
import { readStory, stageTitle } from './story.ts';
import { expectationOf } from './terminal.ts';
import { drawTimeline } from './timeline.ts';

/** More stages, or more drills of one, are folded. */
const MOST_OPEN_STAGES = 2;
const MOST_OPEN_DRILLS = 5;
/** On paper, so that a stage is one page. */
const MOST_IN_TWO_COLUMNS = 5;

/** A stage: its story, and what its drills found. A link to what is inside opens it. */
export function stageSection({ stage, drills }: StageResult, results: Results): Html {
  const isOpen = results.stages.length <= MOST_OPEN_STAGES;
  const isFew = drills.length <= MOST_OPEN_DRILLS;
  const isMany = drills.filter((result) => matters(stage, result)).length > MOST_IN_TWO_COLUMNS;
  return html`<details class="stage${isMany && ' many'}"${isOpen && trusted(' open')}>
<summary><h2>${stageTitle(stage)}</h2> <span>${countsOf(drills)}</span></summary>
<div id="${anchor(stage)}">
${storyOf(stage)}
${optionsOf(stage, results)}
${drills.map((result) => drillDetails(stage, result, results, isFew))}
</div>
</details>
`;
}

/** The parts of the page, and the stages, each with how many drills it holds and fails. */
export function contents(results: Results): Html | false {
  const { stages } = results;
  if (stages.length < 2) return false;
  const staircases = ranStaircases(results).map(({ staircase }) => staircase.title);
  const parts = [...(measuredRushes(results).length > 0 ? ['The final stock'] : []), ...staircases];
  return html`<nav aria-label="Contents"><ul>
${[...parts, 'How it was run'].map((part) => html`<li><a href="#${anchor(part)}">${part}</a></li>\n`)}</ul>
<ul>
${stages.map(({ stage, drills }) => html`<li><a href="#${anchor(stage)}">${stageTitle(stage)}</a> <span>${countsOf(drills)}</span></li>\n`)}</ul></nav>`;
}

/** `holds 20, fails 5` */
function countsOf(drills: DrillResult[]): string {
  const counts = (['pass', 'fail', 'unknown'] as const).map((verdict) => ({
    word: words[verdict],
    count: drills.filter((each) => each.verdict === verdict).length,
  }));
  return counts.flatMap(({ word, count }) => (count > 0 ? [`${word} ${formatNumber(count)}`] : [])).join(', ');
}

/** What a stage is about: the drills that it fixes, those that it is expected to fail, and what nobody expects or knows. */
function matters(stage: string, result: DrillResult): boolean {
  const standing = standingOf(result);
  if (fixes(stage, result.drill) || ['not as expected', 'unknown'].includes(standing)) return true;
  const isLesson = standing === 'as expected' && !columnOf(result.drill)?.isAside;
  return result.verdict === 'fail' && (isLesson || isExternal(stage));
}

function storyOf(stage: string): Html | false {
  const story = readStory(stage);
  if (story === undefined) return false;
  const { problem, change, leaves } = story;
  return pairsOf('story', Object.entries({ Problem: problem, Change: change, Leaves: leaves }));
}

/** How a published lock was set. */
function optionsOf(stage: string, { grades = [] }: Results): Html | false {
  const options = Object.entries(grades.find((grade) => grade.stage === stage)?.options ?? {});
  if (options.length === 0) return false;
  return html`<p>It was given these options; the others are as the library sets them.</p>
${pairsOf('environment', options)}`;
}

function drillDetails(stage: string, result: DrillResult, results: Results, isFew: boolean): Html {
  const { drill, verdict, reasons, timeline, durationMs } = result;
  const why = whyNotPromised(results, stage, result);
  const { mark, word } = why !== undefined ? beyondPromise : markOf(verdict);
  const figure = keyFigure(result);
  const shares = sharesOf(result);
  const isOff = standingOf(result) === 'not as expected';
  const isOfMatter = matters(stage, result);
  const details = [stepList(result), stepTable(result), evidenceList(result)].filter((detail) => detail !== false);
  return html`<details class="drill${isOfMatter && ' matters'}"${(isOfMatter || isFew) && trusted(' open')}>
<summary><h3><b class="key ${verdict}${isOff && ' off'}" aria-hidden="true">${mark}</b> ${drill}: ${word}${figure !== undefined && `, ${figure}`}</h3></summary>
<div id="${anchor(stage, drill)}">
<p class="asks">${questionOf(drill)}</p>
<p>${isExternal(stage) ? '' : compareWithExpected(stage, result)} ${reasons.length === 1 && reasons[0]} ${verdict !== 'not-applicable' && `It took ${formatDuration(durationMs)}.`}</p>
${shares !== undefined && html`<p>Units ${shares}.</p>`}
${why !== undefined && html`<p>${why}</p>`}
${reasons.length > 1 && html`<ul class="reasons">${reasons.map((reason) => html`<li>${reason}</li>\n`)}</ul>`}
${fixedBefore(stage, result, results)}
<div class="${timeline !== undefined && 'evidence'}">
${timeline !== undefined && drawTimeline(`${drill} under ${stage}`, timeline)}
${details.length > 0 && html`<div>${details}</div>`}
</div>
${wireTable(result)}
</div>
</details>
`;
}

/** What the stage fixes, seen from the stage that fails the same drill. */
function fixedBefore(stage: string, { drill }: DrillResult, { stages }: Results): Html | false {
  const before = fixes(stage, drill) ? stages.find((ran) => ran.stage === rowOf(stage)?.before) : undefined;
  const failed = before?.drills.find((result) => result.drill === drill && result.verdict === 'fail');
  if (!before || !failed) return false;
  const figure = keyFigure(failed);
  return html`<p class="before">Before: <a href="#${anchor(before.stage, drill)}">${stageTitle(before.stage)}</a>: ${words.fail}${figure !== undefined && `, ${figure}`}.</p>`;
}

function stepTable(result: DrillResult): Html | false {
  const figures = stepFigures(result);
  if (figures === undefined || Object.keys(figures).length === 0) return false;
  return html`<table class="figures steps"><tbody>
${shownFigures(figures).map((line) => html`<tr><th scope="row">${line.name}</th>${figureCell(line)}</tr>\n`)}</tbody></table>`;
}

/** The steps of a drill that has no timeline, each with its time. */
function stepList({ told = [] }: DrillResult): Html | false {
  if (told.length === 0) return false;
  return html`<ol class="told">${told.map(({ ms, sentence }) => html`<li><span>${formatDuration(ms)}</span> ${sentence}</li>\n`)}</ol>`;
}

function evidenceList({ evidence, evidenceCount }: DrillResult): Html | false {
  if (evidence.length === 0) return false;
  const shown = evidence.length < evidenceCount ? ` The first ${formatNumber(evidence.length)}:` : '';
  return html`<p class="evidence-count">Evidence: ${formatNumber(evidenceCount)}.${shown}</p>
<ul class="evidence">${evidence.map((sentence) => html`<li>${sentence}</li>\n`)}</ul>`;
}

function compareWithExpected(stage: string, result: DrillResult): string {
  const standing = standingOf(result);
  if (standing === 'unknown') return 'Nothing may be concluded.';
  if (standing === 'measured only') return 'The staircase leaves this cell to the measurement.';
  return stripVTControlCharacters(expectationOf(stage, result));
}
