// The report as a page.

import type { Results } from '../evidence/results.ts';
import { formatNumber } from '../narration/numbers.ts';
import { durationSaid, either, momentSaid } from '../narration/spoken.ts';
import { leftOutInWords, ranStaircases } from './cells.ts';
import { howItWasRun, renderDocument } from './document.ts';
import { type Html, html } from './escape.ts';
import { finalStock } from './figures.ts';
import { headlineOf } from './headline.ts';
import { looksLike, markOf } from './marks.ts';
import { serviceSection } from './service.ts';
import { contents, stageSection } from './stage-sections.ts';
import { staircaseSection } from './staircase-table.ts';
import { countCells, summarize, verdictInWords, verdictReasonsOf } from './summary.ts';

export function renderPage(results: Results): string {
  const { stages, settings, leftOut, environment, command } = results;
  return renderDocument(headlineOf(results), verdict(results), [
    contents(results),
    results.service !== undefined && serviceSection(results.service),
    finalStock(results),
    ranStaircases(results).map((ran) => staircaseSection(ran, results)),
    stages.map((stage) => stageSection(stage, results)),
    howItWasRun(command, environment, [
      [either('Requests of a rush', '抢购的请求数'), formatNumber(settings.requests)],
      [either('Connections', '并发连接'), formatNumber(settings.connections)],
      [either('Stock of a rush', '抢购的库存'), formatNumber(settings.stock)],
      [either('Units of a sell-out', '售罄演练的库存'), formatNumber(settings.units)],
      [either('Lease of a step-by-step drill', '逐步演练的租期'), durationSaid(settings.leaseMs)],
      ...(leftOut.length > 0 ? [[either('Left out', '没有运行'), leftOutInWords(leftOut)] as const] : []),
    ]),
  ]);
}

function verdict(results: Results): Html {
  const { grades, verdict, startedAt, durationMs } = results;
  const verdictReasons = verdictReasonsOf(results);
  const took = durationSaid(durationMs);
  const sentences = [
    ...(grades ?? []).flatMap(({ answer, said = answer }) => said?.sentence ?? []),
    ...summarize(results),
  ];
  return html`<header class="verdict ${verdict}">
<p class="run">Lockstep · ${momentSaid(startedAt)} · ${either(`ran for ${took}`, `运行了 ${took}`)}</p>
<h1>${headlineOf(results)}</h1>
<p class="standing"><b><span aria-hidden="true">${markOf(looksLike[verdict]).mark}</span> ${verdictInWords(results)}</b> ${countCells(results)}</p>
${sentences.map((sentence) => html`<p class="summary">${sentence}</p>\n`)}
${verdictReasons.length > 0 && html`<ul class="reasons">${verdictReasons.map((reason) => html`<li>${reason}</li>\n`)}</ul>`}
</header>`;
}
