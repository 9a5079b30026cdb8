// The report of a bench, as one page.

import { formatDuration, formatMoment, formatNumber } from '../evidence/numbers.ts';
import { type BarRow, barChart } from '../report/bars.ts';
import { howItWasRun, renderDocument } from '../report/document.ts';
import { type Html, html } from '../report/escape.ts';
import { spreadOver } from './figures.ts';
import type { BenchResults } from './results.ts';
import { describeCpu, describeSpinners, type Sheet, sheetsOf, titleAt } from './table.ts';

export function renderBenchPage(results: BenchResults): string {
  const { mode, startedAt, durationMs } = results;
  const header = html`<header class="verdict">
<p class="run">Lockstep · ${formatMoment(startedAt)} · ran for ${formatDuration(durationMs)}</p>
<h1>The bench</h1>
<p class="summary">${mode === 'http' ? 'Sales through nginx to two nodes.' : 'The locks themselves: two processes, one section of a GET and a SET.'}</p>
</header>`;
  return renderDocument('The bench', header, [rates(results), tables(results), howBenchWasRun(results)]);
}

/** What each ceiling is, by the kind of the run. */
const ceilings = {
  locks: html`a ceiling, without a lock: <b>serial</b> is one queue in one process, the most that one process reaches; <b>handover</b> is two
processes that take turns, the most that two reach`,
  http: html`the ceiling: a sale that touches no store`,
};

function rates(results: BenchResults): Html {
  const { mode, settings } = results;
  const what = mode === 'http' ? 'Sales per second' : 'Acquisitions per second';
  return html`<section>
<h2>${what}</h2>
<ul class="legend">
<li><i class="swatch expected"></i> ${ceilings[mode]}</li>
<li><i class="swatch final"></i> a built-in lock</li>
<li><i class="swatch peer"></i> a published lock</li>
<li><i class="swatch wrong"></i> ✘ it lost updates, so it was no lock here</li>
</ul>
<p>The bar is the median of the rounds, the line goes from the lowest round to the highest.</p>
<div class="charts">
${settings.waiters.map((waiters) => {
  const title = titleAt(mode, waiters);
  return html`<figure><figcaption><b>${title}</b></figcaption>${barChart(`${what}, ${title}`, barsAt(results, waiters))}</figure>\n`;
})}</div>
</section>`;
}

const colours = { ceiling: 'expected', ours: 'final', peer: 'peer' } as const;

/** One that lost updates was not alone in its section. */
function barsAt({ contestants, turns }: BenchResults, waiters: number): BarRow[] {
  return contestants.flatMap(({ name, kind }): BarRow[] => {
    const range = spreadOver(turns, name, waiters, ({ perSecond }) => perSecond);
    if (range === undefined) return [];
    const own = turns.filter((turn) => turn.name === name && turn.waiters === waiters);
    const isAlone = own.every(({ figures }) => !figures?.lostUpdates);
    const bar = { value: range.value, kind: isAlone ? colours[kind] : 'wrong', range } as const;
    return [{ name: isAlone ? name : `${name} ✘`, bars: [bar] }];
  });
}

function tables(results: BenchResults): Html {
  return html`<section>
<h2>The figures</h2>
<p>${describeCpu(results)}</p>
${sheetsOf(results).map(sheet)}</section>`;
}

function sheet({ title, head, rows }: Sheet): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table class="figures">
<caption>${title}</caption>
<thead><tr>${head.map((name) => html`<th>${name}</th>`)}</tr></thead>
<tbody>
${rows.map(([name = '', ...cells]) => html`<tr><th scope="row">${name}</th>${cells.map((cell, at) => html`<td class="${at === cells.length - 1 && 'remark'}">${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>
`;
}

function howBenchWasRun({ command, environment, settings, mode }: BenchResults): Html {
  return howItWasRun(command, environment, [
    ['Rounds', formatNumber(settings.rounds)],
    ...(mode === 'locks' ? [['Measured each time', formatDuration(settings.seconds * 1_000)] as const] : []),
    ['Lease', formatDuration(settings.leaseMs)],
    ['Delay between two tries', formatDuration(settings.retryDelayMs)],
    ['CPUs kept awake', describeSpinners(settings)],
  ]);
}
