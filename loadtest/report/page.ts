// The report as a page.

import { formatDuration, formatMoment } from '../evidence/numbers.ts';
import type { Results } from '../evidence/results.ts';
import { drillsAlone } from './cells.ts';
import { finalStock, latency, stockOfRushes } from './chart-sections.ts';
import { contractSection } from './contract-section.ts';
import { environmentLines } from './environment.ts';
import { type Html, html, trusted } from './escape.ts';
import { gradeLine, notPromised, optionLines } from './grades.ts';
import { verdictMarks } from './marks.ts';
import { comparison, stageSection } from './stage-sections.ts';
import { staircaseSections } from './staircase-table.ts';
import { readStyles } from './styles.ts';
import { countCells, summarize, titleOf } from './summary.ts';
import { timelinePatterns } from './timeline.ts';

/** The report as one page that needs nothing but itself: no script, and nothing is fetched from anywhere. */
export function renderPage(results: Results): string {
  const stages = drillsAlone(results.stages);
  const css = readStyles();
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${titleOf(results)} · Lockstep</title>
<style>
${trusted(css)}</style>
</head>
<body>
${verdict(results)}
<main>
${results.grades === undefined && finalStock(results)}
${staircaseSections(results)}
${contractSection(results)}
${gradesSection(results)}
${results.grades !== undefined && finalStock(results)}
${stockOfRushes(results)}
${latency(results)}
${comparison(results)}
${hasTimeline(results) && timelinePatterns()}
${stages.map((stage, i) => stageSection(stage, stages.slice(0, i), results))}
${howItWasRun(results)}
</main>
</body>
</html>
`;
  return page.markup;
}

function hasTimeline({ stages }: Results): boolean {
  return stages.some(({ drills }) => drills.some(({ timeline }) => timeline !== undefined));
}

function verdict(results: Results): Html {
  const { verdict, verdictReasons, startedAt, durationMs } = results;
  const counts = countCells(results);
  const mark = results.grades ? '' : verdictMarks[verdict];
  return html`<header class="verdict ${verdict}">
<p class="run">Lockstep · ${formatMoment(startedAt)} · ran for ${formatDuration(durationMs)}</p>
<h1><span aria-hidden="true">${mark}</span> ${titleOf(results)}</h1>
${results.grades?.map((grade) => html`<p class="summary">${gradeLine(grade, results)}</p>\n`) ?? ''}
${summarize(results).map((sentence) => html`<p class="summary">${sentence}</p>\n`)}
${counts !== '' && html`<p>${counts}</p>`}
${verdictReasons.length > 0 && html`<ul class="reasons">${verdictReasons.map((reason) => html`<li>${reason}</li>\n`)}</ul>`}
</header>`;
}

/** How the published locks were set, and what they do not promise. */
function gradesSection(results: Results): Html | false {
  const published = (results.grades ?? []).filter(({ options }) => options !== undefined);
  if (published.length === 0) return false;
  return html`<section>
<h2>The published locks</h2>
${published.map((grade) => {
  const lines = notPromised(grade, results);
  return html`<h3>${grade.stage}</h3>
<p>It was given these options; the others are as the library sets them.</p>
<dl class="environment">
${optionLines(grade).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>
${lines.length > 0 && html`<p>These drills ask for what it does not promise:</p>\n<ul>${lines.map((line) => html`<li>${line}</li>\n`)}</ul>`}
`;
})}
</section>`;
}

function howItWasRun(results: Results): Html {
  const { command, leftOut } = results;
  return html`<section>
<h2>How it was run</h2>
<p>To repeat it:</p>
<pre><code>${command}</code></pre>
<dl class="environment">
${environmentLines(results).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>
${leftOut.length > 0 && html`<h3>Left out</h3>\n<ul>${leftOut.map((cell) => html`<li>${cell}</li>\n`)}</ul>`}
</section>`;
}
