// The HTML report of a bench.

import { formatDuration, formatMoment, formatNumber } from '../narration/numbers.ts';
import { type Bar, type BarRow, barTable } from '../report/bars.ts';
import { howItWasRun, renderDocument } from '../report/document.ts';
import { type Html, html } from '../report/escape.ts';
import { spreadOver } from './figures.ts';
import { growthOf, growthSheet } from './growth.ts';
import { drawGrowth } from './growth-picture.ts';
import type { BenchResults } from './results.ts';
import { describeCpu, describeSpinners, figureSheet, ratioSheet, type Sheet } from './table.ts';

export function renderBenchPage(results: BenchResults): string {
  const { mode, startedAt, durationMs, settings } = results;
  const nodes = settings.nodes?.join(', ') ?? 'two';
  const header = html`<header class="verdict">
<p class="run">Lockstep · ${formatMoment(startedAt)} · ran for ${formatDuration(durationMs)}</p>
<h1>The bench</h1>
<p class="summary">${mode === 'http' ? `Sales through nginx to ${nodes} nodes.` : 'The locks alone: two processes, and a critical section of one GET and one SET.'}</p>
</header>`;
  return renderDocument('The bench', header, [
    settings.grows === true && growth(results),
    rates(results),
    howBenchWasRun(results),
  ]);
}

function growth(results: BenchResults): Html {
  return html`<section>
<h2>More connections, more nodes</h2>
${drawGrowth(growthOf(results))}${growthOf(results).map((each) => sheet(growthSheet(each), () => undefined))}</section>`;
}

/** What each ceiling is, by the kind of the run. */
const ceilings = {
  locks: html`a ceiling, without a lock: <b>serial</b> is one queue in one process, the most that one process reaches; <b>handover</b> is two
processes that take turns, the most that two reach`,
  http: html`a ceiling: <b>http</b> is a sale that touches no store; <b>by-hand</b> is <code>redis-atomic</code> in a service of Express and
ioredis alone`,
};

function rates(results: BenchResults): Html {
  const { mode, settings } = results;
  return html`<section>
<h2>${mode === 'http' ? 'Sales' : 'Acquisitions'} per second, and what each costs</h2>
<ul class="legend">
<li><i class="swatch expected"></i> ${ceilings[mode]}</li>
<li><i class="swatch final"></i> a built-in lock</li>
<li><i class="swatch peer"></i> a published lock</li>
<li><i class="swatch wrong"></i> ✘ it lost updates, so it did not work as a lock here</li>
</ul>
<p>The bar is the median of the rounds, the line goes from the lowest round to the highest. ${describeCpu(results)}</p>
${settings.waiters.map((waiters) => sheet(figureSheet(results, waiters), (name) => barAt(results, waiters, name)))}
${sheet(ratioSheet(results), () => undefined)}</section>`;
}

const colours = { ceiling: 'expected', ours: 'final', peer: 'peer' } as const;

/** One that lost updates was not alone in its section. */
function barAt({ contestants, turns }: BenchResults, waiters: number, name: string): Bar | undefined {
  const range = spreadOver(turns, name, waiters, ({ perSecond }) => perSecond);
  const own = turns.filter((turn) => turn.name === name && turn.waiters === waiters);
  const isAlone = own.every(({ figures }) => !figures?.lostUpdates);
  const kind = contestants.find((contestant) => contestant.name === name)?.kind ?? 'ours';
  return range && { value: range.value, kind: isAlone ? colours[kind] : 'wrong', range };
}

function sheet({ title, head, rows }: Sheet, barOf: (name: string) => Bar | undefined): Html | false {
  if (rows.length === 0) return false;
  const barRows = rows.map(([name = '', ...cells]): BarRow => {
    const bar = barOf(name);
    const own = cells.map((cell, at) => html`<td class="${head[at + 1] === '' && 'remark'}">${cell}</td>`);
    return { name: bar?.kind === 'wrong' ? `${name} ✘` : name, bars: bar ? [bar] : [], cells: own };
  });
  return barTable(title, head.slice(1), barRows);
}

function howBenchWasRun({ command, environment, settings, mode }: BenchResults): Html {
  return howItWasRun(command, environment, [
    ['Rounds', formatNumber(settings.rounds)],
    ...(mode === 'locks' ? [['Measured per turn', formatDuration(settings.seconds * 1_000)] as const] : []),
    ['Lease', formatDuration(settings.leaseMs)],
    ['Delay between two tries', formatDuration(settings.retryDelayMs)],
    ['CPUs kept awake', describeSpinners(settings)],
  ]);
}
