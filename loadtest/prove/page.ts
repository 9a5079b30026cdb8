// The report of a proof, as one page.

import { scopes } from '../../prove/scopes.ts';
import { tell } from '../../prove/words.ts';
import { countOf, formatMoment, formatNumber } from '../evidence/numbers.ts';
import type { Proof, ProofCell, ProofStep } from '../evidence/proof.ts';
import { type Html, html, trusted } from '../report/escape.ts';
import { anchor, verdictMarks } from '../report/marks.ts';
import { stageTitle } from '../report/story.ts';
import { readStyles } from '../report/styles.ts';
import { drawTimeline, timelinePatterns } from '../report/timeline.ts';
import { budgetOf, claimOf, formatOrders, replaysOf, sizeOf, summarizeProof } from './claim.ts';
import { mermaidOf } from './mermaid.ts';
import { axisOf, timelineOf } from './timeline.ts';

const marks = {
  holds: { mark: verdictMarks['as-taught'], kind: 'pass' },
  fails: { mark: verdictMarks['not-as-taught'], kind: 'fail' },
  unknown: { mark: verdictMarks.unknown, kind: 'unknown' },
} as const;

const titles = { 'as-taught': 'As expected', 'not-as-taught': 'Not as expected', unknown: 'Unknown' } as const;

/** A cell and its place in the page. */
interface Placed {
  cell: ProofCell;
  id: string;
}

/** The report of a proof as one page that needs nothing but itself: no script, and nothing is fetched from anywhere. */
export async function renderProofPage(proof: Proof): Promise<string> {
  const css = readStyles();
  const placed = placeCells(proof.cells);
  const sections: Html[] = [];
  for (const stage of unique(placed.map(({ cell }) => cell.stage))) {
    const own = placed.filter(({ cell }) => cell.stage === stage);
    sections.push(await stageSection(stage, own, proof));
  }
  const title = titleOf(proof);
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title} · the proof · Lockstep</title>
<style>
${trusted(css)}</style>
</head>
<body>
${verdict(proof, title)}
<main>
${matrix(placed)}
${timelinePatterns()}
${sections}
${howItWasRun(proof)}
</main>
</body>
</html>
`;
  return page.markup;
}

/** Of locks of which nothing is taught, how many cells hold. */
function titleOf({ verdict, cells }: Proof): string {
  if (verdict !== 'as-taught' || cells.some(({ taught }) => taught !== null)) return titles[verdict];
  return `${formatNumber(cells.filter((cell) => cell.verdict === 'holds').length)} of ${countOf(cells.length, 'cell')} hold`;
}

/** A lock may be looked at twice in one scope, with more processes. */
function placeCells(cells: ProofCell[]): Placed[] {
  const taken = new Map<string, number>();
  return cells.map((cell) => {
    const name = anchor(cell.stage, cell.scope);
    const times = (taken.get(name) ?? 0) + 1;
    taken.set(name, times);
    return { cell, id: times === 1 ? `cell.${name}` : `cell.${name}.${times}` };
  });
}

function verdict(proof: Proof, title: string): Html {
  const { verdict, verdictReasons, createdAt, server } = proof;
  return html`<header class="verdict ${verdict}">
<p class="run">Lockstep · the proof · ${formatMoment(createdAt)} · ${server}</p>
<h1><span aria-hidden="true">${verdictMarks[verdict]}</span> ${title}</h1>
${summarizeProof(proof).map((sentence) => html`<p class="summary">${sentence}</p>\n`)}
${verdictReasons.length > 0 && html`<ul class="reasons">${verdictReasons.map((reason) => html`<li>${reason}</li>\n`)}</ul>`}
</header>`;
}

function matrix(placed: Placed[]): Html {
  if (placed.length === 0) return html`<section><h2>Every order of events</h2><p>Nothing was looked at.</p></section>`;
  const stages = unique(placed.map(({ cell }) => cell.stage));
  const asked = unique(placed.map(({ cell }) => cell.scope));
  const known = scopes.map(({ name }) => name);
  const columns = [...known.filter((name) => asked.includes(name)), ...asked.filter((name) => !known.includes(name))];
  const isWide = columns.length > 5;
  const width = [isWide && ' wide', columns.length > 14 && ' widest'];
  const at = (stage: string, scope: string) =>
    placed.filter(({ cell }) => cell.stage === stage && cell.scope === scope);
  const says = (scope: string) => placed.find(({ cell }) => cell.scope === scope)?.cell.says ?? '';
  return html`<section>
<h2>Every order of events</h2>
${isWide && html`<p class="hint">${countOf(columns.length, 'scope')}: the table goes on to the right →</p>`}
<div class="scroll" tabindex="0" role="region" aria-label="Every order of events">
<table class="staircase proof${width}">
<thead><tr><th scope="col">stage</th>${columns.map((scope) => html`<th scope="col">${scope}<br><small>${says(scope)}</small></th>`)}</tr></thead>
<tbody>
${stages.map((stage) => html`<tr><th scope="row"><a href="#${anchor(stage)}">${stage}</a></th>${columns.map((scope) => matrixCell(at(stage, scope)))}</tr>\n`)}
</tbody>
</table>
</div>
${legend(
  placed.map(({ cell }) => cell),
  placed.length < stages.length * columns.length,
)}
${isWide && html`<dl class="questions">${columns.map((scope) => html`<div><dt>${scope}</dt><dd>${says(scope)}</dd></div>\n`)}</dl>`}
</section>`;
}

function matrixCell(placed: Placed[]): Html {
  const [first] = placed;
  if (first === undefined) return html`<td class="blank"><span class="spoken">not looked at</span></td>`;
  return html`<td class="${classOf(worstOf(placed))}">${placed.map(matrixLink)}</td>`;
}

/** A row may be looked at twice: the field shows the colour of what is worse. */
function worstOf(placed: Placed[]): ProofCell {
  const cells = placed.map(({ cell }) => cell);
  const found = (verdict: ProofCell['verdict']) => cells.find((cell) => cell.verdict === verdict);
  return (found('fails') ?? found('unknown') ?? cells[0]) as ProofCell;
}

function classOf(cell: ProofCell): (string | false)[] {
  const { verdict, taught } = cell;
  return [marks[verdict].kind, taught === null && verdict !== 'unknown' && ' measured', isOff(cell) && ' off'];
}

const isOff = ({ verdict, taught }: ProofCell) => taught !== null && verdict !== 'unknown' && verdict !== taught;

function matrixLink({ cell, id }: Placed): Html {
  const { verdict, taught, processes, sales } = cell;
  return html`<a href="#${id}"><span class="mark" aria-hidden="true">${marks[verdict].mark}</span> ${verdict}
<span class="figure"><span aria-hidden="true">${processes} × ${sales}</span><span class="spoken">, ${sizeOf(cell)}</span></span>
${isOff(cell) && html`<span class="taught">taught: ${taught ?? ''}</span>`}</a>`;
}

/** Only what the table shows needs to be explained. */
function legend(cells: ProofCell[], hasBlanks: boolean): Html {
  const { mark: tick } = marks.holds;
  const { mark: cross } = marks.fails;
  const shows = (verdict: ProofCell['verdict']) => cells.some((cell) => cell.verdict === verdict);
  const isOpen = cells.some(({ taught, verdict }) => taught === null && verdict !== 'unknown');
  return html`<ul class="legend">
<li><b class="key pass">${tick}</b> holds: in no order of events is anything violated</li>
<li><b class="key fail">${cross}</b> fails: in some order it is, and below stands the shortest</li>
${shows('unknown') && html`<li><b class="key unknown">?</b> unknown: nothing may be concluded</li>\n`}
${isOpen && html`<li><b class="key pass measured">${tick}</b> <b class="key fail measured">${cross}</b> pale: the lesson leaves it open</li>\n`}
${cells.some(isOff) && html`<li><b class="key off pass">${tick}</b> <b class="key off fail">${cross}</b> not as expected</li>\n`}
${hasBlanks && html`<li><b class="key blank"></b> not looked at</li>\n`}
<li><b>2 × 1</b> 2 processes, 1 sale each</li>
</ul>`;
}

/** A stage: a row for each of its cells, and below what those came to that do not hold. */
async function stageSection(stage: string, placed: Placed[], proof: Proof): Promise<Html> {
  const articles: Html[] = [];
  for (const each of placed) if (each.cell.verdict !== 'holds') articles.push(await article(each, proof));
  return html`<section class="stage" id="${anchor(stage)}">
<h2>${stageTitle(stage)}</h2>
<div class="scroll" tabindex="0" role="region" aria-label="What was looked at of ${stage}">
<table class="figures cells">
<thead><tr><th scope="col">scope</th><th scope="col" class="who">verdict</th><th scope="col" class="words">what may go wrong</th><th scope="col" class="words">looked at</th><th scope="col">states</th><th scope="col">orders</th></tr></thead>
<tbody>
${placed.map(cellRow)}</tbody>
</table>
</div>
${articles}
</section>
`;
}

function cellRow({ cell, id }: Placed): Html {
  const { scope, verdict, says, states, schedules } = cell;
  const { mark, kind } = marks[verdict];
  const isWhole = verdict === 'holds';
  const name = isWhole ? scope : html`<a href="#${id}">${scope}</a>`;
  return html`<tr${isWhole && html` id="${id}"`}><th scope="row">${name}</th><td class="who"><b class="key ${kind}" aria-hidden="true">${mark}</b> ${verdict}</td><td class="words">${says}</td><td class="words">${sizeOf(cell)}, ${budgetOf(cell)}</td><td>${formatNumber(states)}</td><td class="whole">${isWhole ? formatOrders(schedules) : 'not counted'}</td></tr>\n`;
}

/** What became of a cell that does not hold. */
async function article({ cell, id }: Placed, { server }: Proof): Promise<Html> {
  const { stage, scope, verdict, says, taught, counterexample = [] } = cell;
  const { mark, kind } = marks[verdict];
  const [first = '', ...rest] = claimOf(cell, server);
  return html`<article class="order-of-events" id="${id}">
<h3><b class="key ${kind}${isOff(cell) && ' off'}" aria-hidden="true">${mark}</b> ${scope}: ${verdict}</h3>
<p class="asks">${says}</p>
<p><b>${first}</b> ${taught !== null && verdict !== 'unknown' && (isOff(cell) ? `Not as expected: ${taught} is expected.` : 'As expected.')}</p>
<p>${[...rest, ...replaysOf(cell)].join(' ')}</p>
${
  counterexample.length > 0 &&
  html`${drawTimeline(`${scope} under ${stage}`, await timelineOf(cell), axisOf(cell))}
<p class="note">The axis counts the steps of the table; below it stands the time of the search's clock.${cell.masters > 0 && ' Leases are not drawn: several masters keep them.'}</p>
${stepTable(cell)}
<details><summary>As a sequence diagram in mermaid, to paste into a document</summary>
<pre><code>${mermaidOf(cell)}</code></pre>
</details>`
}
</article>
`;
}

function stepTable({ stage, scope, verdict, counterexample = [], reason }: ProofCell): Html {
  // What went another way when it was replayed shows nothing.
  const violation = verdict === 'fails' && reason;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="The steps of ${scope} under ${stage}">
<table class="figures order">
<thead><tr><th scope="col">step</th><th scope="col">ms</th><th scope="col" class="who">who</th><th scope="col" class="words">what happened</th><th scope="col" class="words reply">reply</th><th scope="col" class="words">what came of it</th></tr></thead>
<tbody>
${counterexample.map((step, index) => stepRow(step, index + 1, index + 1 === counterexample.length && violation))}</tbody>
</table>
</div>`;
}

const quiet: ProofStep['kind'][] = ['begins', 'command', 'reply', 'message', 'timer'];

function stepRow(step: ProofStep, number: number, violation: string | false): Html {
  const { at, process, kind, command, reply, told } = step;
  const kinds = kind === 'clock' ? 'clock' : !quiet.includes(kind) && 'fault';
  const came = told.map(tell).join(', ');
  return html`<tr class="${kinds}"><th scope="row">${number}</th><td>${at}</td><td class="who">${process}</td><td class="words">${command.replace(/,$/, '')}</td><td class="words reply">${reply}</td><td class="words">${came !== '' && `${process} ${came}`}${came !== '' && violation !== false && html`<br>`}${violation !== false && html`<b class="damage">${marks.fails.mark} ${violation}</b>`}</td></tr>\n`;
}

function howItWasRun({ command, server, cells }: Proof): Html {
  const lines = [
    ['Server', server],
    ['Cells', formatNumber(cells.length)],
    ['States', formatNumber(cells.reduce((sum, { states }) => sum + states, 0))],
  ];
  return html`<section>
<h2>How it was run</h2>
<p>To repeat it:</p>
<pre><code>${command}</code></pre>
<dl class="environment">
${lines.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>
</section>`;
}

function unique(names: string[]): string[] {
  return [...new Set(names)];
}
