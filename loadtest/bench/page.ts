// The report of a bench, as one page.

import { formatDuration, formatMeasure, formatMoment, formatNumber } from '../evidence/numbers.ts';
import { type Html, html, trusted } from '../report/escape.ts';
import { readStyles } from '../report/styles.ts';
import { type BarRow, barChart, evenAxis, logAxis, spanChart } from '../report/svg-charts.ts';
import { cpuMicros, type Figure, spreadOver } from './figures.ts';
import type { BenchResults } from './results.ts';
import {
  columnsOf,
  describeCpu,
  describeSpinners,
  formatCell,
  orderRows,
  ratioRows,
  rowsAt,
  titleAt,
} from './table.ts';

/** The report of a bench as one page that needs nothing but itself: no script, and nothing is fetched from anywhere. */
export function renderBenchPage(results: BenchResults): string {
  const css = readStyles();
  const { mode, startedAt, durationMs } = results;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>The bench · Lockstep</title>
<style>
${trusted(css)}</style>
</head>
<body>
<header class="verdict">
<p class="run">Lockstep · ${formatMoment(startedAt)} · ran for ${formatDuration(durationMs)}</p>
<h1>The bench</h1>
<p class="summary">${mode === 'http' ? 'Sales through nginx to two nodes.' : 'The locks themselves: two processes, one section of a GET and a SET.'}</p>
</header>
<main>
${rates(results)}
${ratios(results)}
${cpu(results)}
${commands(results)}
${waiting(results)}
${results.settings.waiters.map((waiters) => table(results, waiters))}
${options(results)}
${howItWasRun(results)}
</main>
</body>
</html>
`;
  return page.markup;
}

/** What each ceiling is, by the kind of the run. */
const ceilings = {
  locks: html`a ceiling, without a lock: <b>serial</b> is one queue in one process, the most that one process reaches; <b>handover</b> is two
processes that take turns, the most that two reach`,
  http: html`the ceiling: a sale that touches no store`,
};

const legend = (mode: BenchResults['mode']) => html`<ul class="legend">
<li><i class="swatch expected"></i> ${ceilings[mode]}</li>
<li><i class="swatch final"></i> a built-in lock</li>
<li><i class="swatch peer"></i> a published lock</li>
<li><i class="swatch wrong"></i> ✘ it lost updates, so it was no lock here</li>
</ul>
<p>The bar is the median of the rounds, the line goes from the lowest round to the highest.</p>`;

function rates(results: BenchResults): Html {
  const what = results.mode === 'http' ? 'Sales per second' : 'Acquisitions per second';
  return html`<section>
<h2>${what}</h2>
${legend(results.mode)}
<div class="charts">
${charts(results, what, ({ perSecond }) => perSecond, formatNumber)}</div>
${orderPrice(results)}
</section>`;
}

/** What the orders cost, where they were measured. */
function orderPrice(results: BenchResults): Html | false {
  const rows = orderRows(results);
  return (
    rows.length > 0 &&
    html`<div class="scroll"><table class="figures">
<thead><tr><th>with orders ÷ without, sales per second</th><th>measured</th></tr></thead>
<tbody>
${rows.map(
  ([name, ratio]) => html`<tr><th scope="row">${name}</th><td>${ratio}</td></tr>
`,
)}</tbody>
</table></div>`
  );
}

function cpu(results: BenchResults): Html {
  const what = results.mode === 'http' ? 'CPU time per sale' : 'CPU time per acquisition';
  return html`<section>
<h2>${what}</h2>
<p>${describeCpu(results)} No waiting is in it.</p>
<div class="charts">
${charts(results, what, cpuMicros, formatMicros)}</div>
</section>`;
}

function formatMicros(micros: number): string {
  return `${formatNumber(micros)} µs`;
}

function commands(results: BenchResults): Html {
  const what = 'Redis commands per acquisition';
  return html`<section>
<h2>${what}</h2>
<p>The two of the section and those inside scripts included. Each mark of the axis stands for ten times the one before.</p>
<div class="charts">
${charts(results, what, ({ commandsPerAcquisition }) => commandsPerAcquisition, formatMeasure, logAxis)}</div>
</section>`;
}

function charts(results: BenchResults, what: string, figure: Figure, format: (n: number) => string, axisOf = evenAxis) {
  return results.settings.waiters.map((waiters) => {
    const rows = contestantsAt(results, waiters).flatMap(({ name, shownAs, colour }): BarRow[] => {
      const range = spreadOver(results.turns, name, waiters, figure);
      if (range === undefined) return [];
      return [{ name: shownAs, bars: [{ value: range.value, text: format(range.value), kind: colour, range }] }];
    });
    const title = titleAt(results.mode, waiters);
    return chart(title, barChart(`${what}, ${title}`, rows, axisOf));
  });
}

function waiting(results: BenchResults): Html {
  return html`<section>
<h2>How long a waiter waits</h2>
<ul class="legend">
<li><i class="dot p50"></i> p50: half of the waits were shorter</li>
<li><i class="dot p99"></i> p99: one in a hundred was longer; its value stands on the right</li>
<li><i class="dot max"></i> the longest</li>
</ul>
<p>Who got nothing while it was measured counts with its wait so far. Medians of the rounds.</p>
<div class="charts">
${results.settings.waiters.map((waiters) => {
  const value = (name: string, figure: Figure) => spreadOver(results.turns, name, waiters, figure)?.value;
  const rows = contestantsAt(results, waiters).flatMap(({ name, shownAs }) => {
    const p50 = value(name, ({ waitMs }) => waitMs?.p50);
    const p99 = value(name, ({ waitMs }) => waitMs?.p99);
    const max = value(name, ({ waitMs }) => waitMs?.max);
    return p50 === undefined || p99 === undefined || max === undefined
      ? []
      : [{ name: shownAs, span: { p50, p99, max } }];
  });
  const title = titleAt(results.mode, waiters);
  return chart(title, spanChart(`Waits, ${title}`, rows));
})}</div>
</section>`;
}

const colours = { ceiling: 'expected', ours: 'final', peer: 'peer' } as const;

/** Who was measured. One that lost updates was not alone in its section. */
function contestantsAt({ contestants, turns }: BenchResults, waiters: number) {
  return contestants.map(({ name, kind }) => {
    const isNotAlone = turns.some((turn) => {
      return turn.name === name && turn.waiters === waiters && (turn.figures?.lostUpdates ?? 0) > 0;
    });
    return {
      name,
      shownAs: isNotAlone ? `${name} ✘` : name,
      colour: isNotAlone ? ('wrong' as const) : colours[kind],
    };
  });
}

function chart(title: string, drawing: Html): Html {
  return html`<figure><figcaption><b>${title}</b></figcaption>${drawing}</figure>\n`;
}

function ratios(results: BenchResults): Html {
  return html`<section>
<h2>Ratios within this run</h2>
<div class="scroll"><table class="figures">
<thead><tr><th>ratio</th><th class="words">what</th><th>measured</th><th>rounds apart</th><th>target</th><th></th></tr></thead>
<tbody>
${ratioRows(results).map(
  ({ name, says, ratio, apart, goal, isReached }) =>
    html`<tr><th>${name}</th><td class="words">${says}</td><td class="whole">${ratio ?? 'not measured'}</td><td class="whole">${apart ?? ''}</td><td class="whole">${goal}</td><td class="whole">${
      isReached === undefined ? '' : isReached ? '✔ reached' : '✘ not reached'
    }</td></tr>\n`,
)}</tbody>
</table></div>
</section>`;
}

function table(results: BenchResults, waiters: number): Html {
  const columns = columnsOf(results.mode);
  return html`<section>
<h2>All figures at ${titleAt(results.mode, waiters)}</h2>
<div class="scroll"><table class="figures">
<thead><tr><th></th>${columns.map(({ head }) => html`<th>${head}</th>`)}<th></th></tr></thead>
<tbody>
${rowsAt(results, waiters).map(
  ({ name, cells, remarks }) =>
    html`<tr><th>${name}</th>${columns.map((column, index) => html`<td>${formatCell(cells[index], column, true)}</td>`)}<td>${remarks.join('; ')}</td></tr>\n`,
)}</tbody>
</table></div>
</section>`;
}

function options({ contestants }: BenchResults): Html | false {
  const peers = contestants.filter((contestant) => contestant.options !== undefined);
  if (peers.length === 0) return false;
  return html`<section>
<h2>How the published locks were set</h2>
<p>What is not named is as the library sets it.</p>
${peers.map(
  ({ name, version, options }) =>
    html`<h3>${name} ${version}</h3>\n<ul>${Object.entries(options ?? {}).map(
      ([option, value]) => html`<li><code>${option}</code>: ${value}</li>\n`,
    )}</ul>\n`,
)}</section>`;
}

function howItWasRun({ command, environment, settings, mode }: BenchResults): Html {
  const { redis, nginx, node, os, cpus, commit } = environment;
  const lines = [
    ['Rounds', formatNumber(settings.rounds)],
    ...(mode === 'locks' ? [['Measured each time', formatDuration(settings.seconds * 1_000)]] : []),
    ['Lease', formatDuration(settings.leaseMs)],
    ['Delay between two tries', formatDuration(settings.retryDelayMs)],
    ['Redis', `${redis.version}, ${redis.kind}`],
    ...(mode === 'http' ? [['nginx', nginx]] : []),
    ['Node', node],
    ['System', os],
    ['CPUs', cpus],
    ['CPUs kept awake', describeSpinners(settings)],
    ['Commit', commit],
  ];
  return html`<section>
<h2>How it was run</h2>
<p>To repeat it:</p>
<pre><code>${command}</code></pre>
<dl class="environment">
${lines.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>
</section>`;
}
