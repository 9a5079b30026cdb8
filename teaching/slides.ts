// The slides: one page that opens offline, made of what the stages, their questions and the staircase say.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Question } from '../live/questions.ts';
import { stageChoices } from '../live/server/choices.ts';
import { listOf } from '../loadtest/evidence/numbers.ts';
import { type Html, html, trusted } from '../loadtest/report/escape.ts';
import { lockStaircase } from '../loadtest/staircase/locks.ts';
import { columnOf } from '../loadtest/staircase/lookup.ts';
import { beyond } from '../locks/index.ts';
import { fontFaces } from './fonts.ts';
import { capital, LEFT_OUT, type StageFacts, stageFacts } from './stages.ts';
import { legend, staircasePicture } from './staircase-picture.ts';

/** A slide shows no more rows of code than a room can read, nor longer lines: those go on below, deeper by so many characters. */
const MOST_CODE_ROWS = 20;
const MOST_COLUMNS = 80;
const DEEPER = 4;
/** And no more rows of a table. */
const MOST_ROWS = 4;

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

/** All slides as one page. It fetches nothing, and runs no script but its own. */
export function slidesPage(stages: StageFacts[] = stageFacts()): string {
  const script = read('./slides-keys.js');
  const hash = createHash('sha256').update(script).digest('base64');
  const slides = [
    opening(stages),
    ...stages.flatMap((stage) => slidesOf(stage, stages)),
    ...beyondSlides(),
    redlock(),
    closing(),
  ];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; font-src data:; script-src 'sha256-${hash}'">
<title>Lockstep: the slides</title>
<style>
${trusted(fontFaces())}${trusted(read('./pages.css'))}${trusted(read('./slides.css'))}</style>
</head>
<body>
<main>
${slides.map(
  (slide, place) => html`<section class="slide" id="${slide.id}" aria-label="Slide ${place + 1} of ${slides.length}">
${slide.content}
<p class="place">${slide.of && html`${slide.of} · `}${place + 1} / ${slides.length}</p>
</section>
`,
)}
</main>
<script>${trusted(script)}</script>
</body>
</html>
`.markup;
}

interface Slide {
  id: string;
  /** What it is about, beside its number. */
  of?: string;
  content: Html;
}

function opening(stages: StageFacts[]): Slide {
  return {
    id: 'start',
    content: html`<h1>Distributed locks, one failure at a time</h1>
<p class="lead">Two services sell the same stock. Each sale reads it, does some business, and writes it back. Each stage of the lock mends
one failure of the stage before, and leaves one of its own.</p>
<p class="lead">Before you see what a stage does, say what you expect.</p>
<nav aria-label="Stages"><ul class="stages">${stages.map(({ name, title }) => html`<li><a href="#${name}">${title}</a></li>\n`)}<li><a href="#beyond-1">Beyond</a></li></ul></nav>
<p class="hint">→ next · ← back · a answer · t dark or light · Home and End</p>`,
  };
}

function slidesOf(stage: StageFacts, stages: StageFacts[]): Slide[] {
  const { name, title, number, problem, change, questions } = stage;
  const of = title;
  return [
    {
      id: name,
      of,
      content: html`<h2>${title}</h2>
<dl class="story"><dt>Problem</dt><dd>${capital(problem)}</dd><dt>Change</dt><dd>${capital(change)}</dd></dl>`,
    },
    ...readable(stage.diff).map((lines, place, all) => ({
      id: `${name}-code-${place + 1}`,
      of,
      content: html`<h2>What changes in the code${all.length > 1 && ` (${place + 1} of ${all.length})`}</h2>
${diff(lines)}`,
    })),
    ...questions.map((question) => ({
      id: `${name}-${question.drill}`,
      of: `${of} · drill ${question.drill}`,
      content: prediction(question),
    })),
    {
      id: `${name}-leaves`,
      of,
      content: html`<h2>What stage ${number} leaves</h2>
<p class="lead">${capital(stage.leaves)}</p>
${number === stages.length - 1 && html`<p class="fails-too">It fails ${listOf(stage.failed)}.</p>`}
${staircasePicture(stages, number)}
<p class="legend">${legend()}</p>
<pre class="commands"><code>${stage.commands.join('\n')}</code></pre>`,
    },
  ];
}

/** The parts of a change that fit a slide. They begin at an empty line, or at what is left out, where there is one. */
function readable(lines: string[]): string[][] {
  if (lines.reduce((sum, line) => sum + rowsOf(line), 0) <= MOST_CODE_ROWS) return lines.length === 0 ? [] : [lines];
  const middle = lines.length / 2;
  const isGap = (line: string | undefined) => line === LEFT_OUT || isEmpty(line);
  const [cut = Math.ceil(middle)] = [...lines.keys()]
    .filter((at) => at > 0 && isGap(lines[at]))
    .sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
  return [...readable(lines.slice(0, cut)), ...readable(lines.slice(cut))];
}

const isEmpty = (line: string | undefined) => line !== undefined && /^[-+ ]?$/.test(line);

/** A part of a change, as large as its slide has room for. */
function diff(piece: string[]): Html {
  const lines = withoutEmptyEnds(piece);
  const rows = lines.reduce((sum, line) => sum + rowsOf(line), 0);
  const columns = Math.min(MOST_COLUMNS, Math.max(...lines.map(({ length }) => length)));
  return html`<pre class="diff" style="--rows: ${rows}; --columns: ${columns}"><code>${lines.map(diffLine)}</code></pre>`;
}

function withoutEmptyEnds(lines: string[]): string[] {
  const first = lines.findIndex((line) => !isEmpty(line));
  const last = lines.findLastIndex((line) => !isEmpty(line));
  return lines.slice(first, last + 1);
}

function rowsOf(line: string): number {
  const left = line.length - MOST_COLUMNS;
  return left <= 0 ? 1 : 1 + Math.ceil(left / (MOST_COLUMNS - depthOf(line)));
}

/** How far a line that goes on below begins. */
function depthOf(line: string): number {
  return 1 + line.slice(1).search(/\S|$/) + DEEPER;
}

function diffLine(line: string): Html {
  const kind = { '+': 'added', '-': 'removed' }[line[0] ?? ''] ?? (line === LEFT_OUT ? 'left-out' : 'same');
  return html`<span class="${kind}" style="--depth: ${depthOf(line)}ch">${line}</span>`;
}

function prediction({ question, answers, explains }: Question): Html {
  const letter = (place: number) => String.fromCharCode(65 + place);
  const right = answers.findIndex(({ isRight }) => isRight);
  return html`<h2 class="asks">What do you expect?</h2>
<p class="question">${question}</p>
<ol class="answers" type="A">${answers.map(({ text }) => html`<li>${text}</li>\n`)}</ol>
<details><summary>The answer</summary>
<p class="right"><b>${letter(right)}.</b> ${explains}</p>
<ul class="because">${answers.map(({ because }, place) => because !== undefined && html`<li><b>${letter(place)}</b> ${because}</li>\n`)}</ul>
</details>`;
}

/** What is beyond stage 8, a few on each slide. */
function beyondSlides(): Slide[] {
  const rows = stageChoices().filter(({ name }) => Object.hasOwn(beyond, name));
  return pieces(rows, MOST_ROWS).map((some, place, all) => ({
    id: `beyond-${place + 1}`,
    of: 'Beyond stage 8',
    content: html`<h2>Beyond stage 8 (${place + 1} of ${all.length})</h2>
<dl class="beyond">${some.map(({ name, change, leaves }) => html`<div><dt>${name}</dt><dd>${capital(change)}<br><span class="leaves">Leaves: ${leaves}</span></dd></div>\n`)}</dl>`,
  }));
}

/** What the staircase says of redlock, for the one who asks. */
function redlock(): Slide {
  const signs = Object.entries(lockStaircase.rows['redlock']?.signs ?? {});
  const over8 = lockStaircase.rows['8-auto-renew']?.signs ?? {};
  const better = signs.filter(([drill, sign]) => sign === '✔' && over8[drill] === '✘').map(([drill]) => drill);
  const fails = signs.filter(([, sign]) => sign === '✘').map(([drill]) => drill);
  return {
    id: 'redlock',
    of: 'Beyond stage 8',
    content: html`<h2>But Redlock?</h2>
<p>It holds where stage 8 fails: ${listOf(better)}. It fails these:</p>
<dl class="questions">${fails.map((drill) => html`<div><dt>${drill}</dt><dd>${capital(columnOf(drill)?.asks ?? '')}</dd></div>\n`)}</dl>
<pre class="commands"><code>npm run drill -- late-write --stage redlock,fenced
npm run drill -- amnesia --stage redlock</code></pre>`,
  };
}

function closing(): Slide {
  return {
    id: 'end',
    content: html`<h2>Three questions before you take a lock</h2>
<ol class="lead">
<li>Can the store that holds the data look and take in one step? Then take no lock.</li>
<li>Is the lock there to save work, or to save data? A lock that saves work may let two in once in a while.</li>
<li>Can the resource compare a number at each read and each write? Then let it refuse what comes too late.</li>
</ol>
<p>The page docs/choosing.md has the cells and the figures behind them.</p>`,
  };
}

function pieces<T>(all: T[], most: number): T[][] {
  const count = Math.ceil(all.length / most);
  const size = Math.ceil(all.length / Math.max(1, count));
  return Array.from({ length: count }, (_, place) => all.slice(place * size, (place + 1) * size));
}
