// The sections of the page that go stage by stage.

import { stripVTControlCharacters } from 'node:util';
import { type DrillResult, type Results, type StageResult, stepFigures } from '../evidence/results.ts';
import { formatDuration, formatNumber } from '../narration/numbers.ts';
import { standingOf } from '../staircase/judge-run.ts';
import { fixes, isExternal, rowOf } from '../staircase/lookup.ts';
import { keyFigure, questionOf, sharesOf, whyNotPromised } from './cells.ts';
import { pairsOf } from './document.ts';
import { type Html, html } from './escape.ts';
import { figureCell, shownFigures } from './figures.ts';
import { anchor, beyondPromise, markOf, words } from './marks.ts';
import { wireTable } from './service.ts';
import { readStory, stageTitle } from './story.ts';
import { expectationOf } from './terminal.ts';
import { drawTimeline } from './timeline.ts';

/** A stage: its story, and what its drills found. */
export function stageSection({ stage, drills }: StageResult, results: Results): Html {
  return html`<section class="stage" id="${anchor(stage)}">
<h2>${stageTitle(stage)}</h2>
${storyOf(stage)}
${optionsOf(stage, results)}
${drills.map((result) => drillArticle(stage, result, results))}
</section>
`;
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

function drillArticle(stage: string, result: DrillResult, results: Results): Html {
  const { drill, verdict, reasons, timeline, durationMs } = result;
  const why = whyNotPromised(results, stage, result);
  const { mark, word } = why !== undefined ? beyondPromise : markOf(verdict);
  const figure = keyFigure(result);
  const shares = sharesOf(result);
  const isOff = standingOf(result) === 'not as expected';
  const details = [stepList(result), stepTable(result), evidenceList(result)].filter((detail) => detail !== false);
  return html`<article id="${anchor(stage, drill)}">
<h3><b class="key ${verdict}${isOff && ' off'}" aria-hidden="true">${mark}</b> ${drill}: ${word}${figure !== undefined && `, ${figure}`}</h3>
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
</article>
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
