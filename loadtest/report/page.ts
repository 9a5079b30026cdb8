// The report as a page.

import type { Results } from '../evidence/results.ts';
import { formatDuration, formatMoment, formatNumber } from '../narration/numbers.ts';
import { leftOutInWords, ranStaircases } from './cells.ts';
import { howItWasRun, renderDocument } from './document.ts';
import { type Html, html } from './escape.ts';
import { finalStock } from './figures.ts';
import { headlineOf } from './headline.ts';
import { looksLike, markOf } from './marks.ts';
import { serviceSection } from './service.ts';
import { contents, stageSection } from './stage-sections.ts';
import { staircaseSection } from './staircase-table.ts';
import { countCells, summarize, verdictInWords } from './summary.ts';

export function renderPage(results: Results): string {
  const { stages, settings, leftOut, environment, command } = results;
  return renderDocument(headlineOf(results), verdict(results), [
    contents(results),
    results.service !== undefined && serviceSection(results.service),
    finalStock(results),
    ranStaircases(results).map((ran) => staircaseSection(ran, results)),
    stages.map((stage) => stageSection(stage, results)),
    howItWasRun(command, environment, [
      ['Requests of a rush', formatNumber(settings.requests)],
      ['Connections', formatNumber(settings.connections)],
      ['Stock of a rush', formatNumber(settings.stock)],
      ['Units of a sell-out', formatNumber(settings.units)],
      ['Lease of the drills step by step', formatDuration(settings.leaseMs)],
      ...(leftOut.length > 0 ? [['Left out', leftOutInWords(leftOut)] as const] : []),
    ]),
  ]);
}

function verdict(results: Results): Html {
  const { grades, verdict, verdictReasons, startedAt, durationMs } = results;
  const sentences = [...(grades ?? []).flatMap(({ answer }) => answer?.sentence ?? []), ...summarize(results)];
  return html`<header class="verdict ${verdict}">
<p class="run">Lockstep · ${formatMoment(startedAt)} · ran for ${formatDuration(durationMs)}</p>
<h1>${headlineOf(results)}</h1>
<p class="standing"><b><span aria-hidden="true">${markOf(looksLike[verdict]).mark}</span> ${verdictInWords(results)}.</b> ${countCells(results)}</p>
${sentences.map((sentence) => html`<p class="summary">${sentence}</p>\n`)}
${verdictReasons.length > 0 && html`<ul class="reasons">${verdictReasons.map((reason) => html`<li>${reason}</li>\n`)}</ul>`}
</header>`;
}
