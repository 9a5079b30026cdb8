// The sections of the page that go stage by stage.

import { stripVTControlCharacters } from 'node:util';
import { type DrillResult, type Results, type StageResult, stepFigures } from '../evidence/results.ts';
import { inLanguage } from '../narration/language.ts';
import { formatNumber } from '../narration/numbers.ts';
import { durationSaid, either } from '../narration/spoken.ts';
import { standingOf } from '../staircase/judge-run.ts';
import { columnOf, fixes, isExternal, rowOf } from '../staircase/lookup.ts';
import {
  evidenceOf,
  keyFigure,
  measuredRushes,
  questionOf,
  ranStaircases,
  reasonsOf,
  sharesOf,
  toldOf,
  whyNotPromised,
} from './cells.ts';
import { howTitle, pairsOf } from './document.ts';
import { type Html, html, trusted } from './escape.ts';
import { figureCell, finalStockTitle, shownFigures } from './figures.ts';
import { anchor, beyondPromise, markOf, wordOf } from './marks.ts';
import { remedyOf } from './remedy.ts';
import { wireTable } from './service.ts';
import { stageTitle, storyOf } from './story.ts';
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
${storyPairs(stage)}
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
  const staircases = ranStaircases(results).map(({ staircase }) => inLanguage(staircase.title));
  const parts = [...(measuredRushes(results).length > 0 ? [finalStockTitle()] : []), ...staircases];
  return html`<nav aria-label="${either('Contents', '目录')}"><ul>
${[...parts, howTitle()].map((part) => html`<li><a href="#${anchor(part)}">${part}</a></li>\n`)}</ul>
<ul>
${stages.map(({ stage, drills }) => html`<li><a href="#${anchor(stage)}">${stageTitle(stage)}</a> <span>${countsOf(drills)}</span></li>\n`)}</ul></nav>`;
}

/** `holds 20, fails 5` */
function countsOf(drills: DrillResult[]): string {
  const counts = (['pass', 'fail', 'unknown'] as const).map((verdict) => ({
    word: wordOf(verdict),
    count: drills.filter((each) => each.verdict === verdict).length,
  }));
  return counts
    .flatMap(({ word, count }) => (count > 0 ? [`${word} ${formatNumber(count)}`] : []))
    .join(either(', ', '，'));
}

/** What a stage is about: the drills that it fixes, those that it is expected to fail, and what nobody expects or knows. */
function matters(stage: string, result: DrillResult): boolean {
  const standing = standingOf(result);
  if (fixes(stage, result.drill) || ['not as expected', 'unknown'].includes(standing)) return true;
  const isLesson = standing === 'as expected' && !columnOf(result.drill)?.isAside;
  return result.verdict === 'fail' && (isLesson || isExternal(stage));
}

function storyPairs(stage: string): Html | false {
  const story = storyOf(stage);
  if (story === undefined) return false;
  return pairsOf('story', [
    [either('Problem', '问题'), story.problem],
    [either('Change', '改动'), story.change],
    [either('Leaves', '遗留'), story.leaves],
  ]);
}

/** How a published lock was set. */
function optionsOf(stage: string, { grades = [] }: Results): Html | false {
  const options = Object.entries(grades.find((grade) => grade.stage === stage)?.options ?? {});
  if (options.length === 0) return false;
  return html`<p>${either('It ran with these options; the others have the defaults of the library.', '它用这些选项运行，其余是这个库的默认值。')}</p>
${pairsOf('environment', options)}`;
}

function drillDetails(stage: string, result: DrillResult, results: Results, isFew: boolean): Html {
  const { drill, verdict, timeline, durationMs } = result;
  const reasons = reasonsOf(result);
  const took = durationSaid(durationMs);
  const why = whyNotPromised(results, stage, result);
  const { mark, word } = why !== undefined ? beyondPromise() : markOf(verdict);
  const figure = keyFigure(result);
  const shares = sharesOf(result);
  const remedy = results.log === undefined ? remedyOf(stage, result) : '';
  const isOff = standingOf(result) === 'not as expected';
  const isOfMatter = matters(stage, result);
  const details = [stepList(result), stepTable(result), evidenceList(result)].filter((detail) => detail !== false);
  return html`<details class="drill${isOfMatter && ' matters'}"${(isOfMatter || isFew) && trusted(' open')}>
<summary><h3><b class="key ${verdict}${isOff && ' off'}" aria-hidden="true">${mark}</b> ${drill}${either(': ', '：')}${word}${figure !== undefined && either(`, ${figure}`, `，${figure}`)}</h3></summary>
<div id="${anchor(stage, drill)}">
<p class="asks">${questionOf(drill)}</p>
<p>${isExternal(stage) ? '' : compareWithExpected(stage, result)} ${reasons.length === 1 && reasons[0]} ${verdict !== 'not-applicable' && either(`It took ${took}.`, `用时 ${took}。`)}</p>
${remedy !== '' && html`<p>${remedy}</p>`}
${shares !== undefined && html`<p>${either(`Units ${shares}.`, `${shares}。`)}</p>`}
${why !== undefined && html`<p>${why}</p>`}
${reasons.length > 1 && html`<ul class="reasons">${reasons.map((reason) => html`<li>${reason}</li>\n`)}</ul>`}
${fixedBefore(stage, result, results)}
<div class="${timeline !== undefined && 'evidence'}">
${timeline !== undefined && drawTimeline(either(`${drill} under ${stage}`, `${stage} 的 ${drill}`), timeline, result.facts?.deeds)}
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
  return html`<p class="before">${either('Before: ', '之前：')}<a href="#${anchor(before.stage, drill)}">${stageTitle(before.stage)}</a>${either(': ', '：')}${wordOf('fail')}${figure !== undefined && either(`, ${figure}`, `，${figure}`)}${either('.', '。')}</p>`;
}

function stepTable(result: DrillResult): Html | false {
  const figures = stepFigures(result);
  if (figures === undefined || Object.keys(figures).length === 0) return false;
  return html`<table class="figures steps"><tbody>
${shownFigures(figures).map((line) => html`<tr><th scope="row">${line.name}</th>${figureCell(line)}</tr>\n`)}</tbody></table>`;
}

/** The steps of a drill that has no timeline, each with its time. */
function stepList(result: DrillResult): Html | false {
  const told = toldOf(result);
  if (told.length === 0) return false;
  return html`<ol class="told">${told.map(({ ms, sentence }) => html`<li><span>${durationSaid(ms)}</span> ${sentence}</li>\n`)}</ol>`;
}

function evidenceList(result: DrillResult): Html | false {
  const evidence = evidenceOf(result);
  if (evidence.length === 0) return false;
  const [count, first] = [formatNumber(result.evidenceCount), formatNumber(evidence.length)];
  const shown = evidence.length < result.evidenceCount && either(` The first ${first}:`, `前 ${first} 条：`);
  return html`<p class="evidence-count">${either(`Evidence: ${count}.`, `证据 ${count} 条。`)}${shown}</p>
<ul class="evidence">${evidence.map((sentence) => html`<li>${sentence}</li>\n`)}</ul>`;
}

function compareWithExpected(stage: string, result: DrillResult): string {
  const standing = standingOf(result);
  if (standing === 'unknown') return either('Nothing can be concluded.', '不能得出结论。');
  if (standing === 'measured only') return either('Nothing is expected of this cell.', '对这个单元格没有预期。');
  return stripVTControlCharacters(expectationOf(stage, result));
}
