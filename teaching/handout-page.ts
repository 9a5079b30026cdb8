// The page to print: the problem, the change, what it leaves, and the command, for all stages, on one sheet.

import { readFileSync } from 'node:fs';
import { type Html, html, trusted } from '../loadtest/report/escape.ts';
import { fontFaces } from './fonts.ts';
import { capital, type StageFacts, stageFacts } from './stages.ts';
import { legend, staircasePicture } from './staircase-picture.ts';

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

/** One page of A4, on its side. It has no script, and fetches nothing. */
export function handoutPage(stages: StageFacts[] = stageFacts()): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; font-src data:">
<title>Lockstep: the stages on one page</title>
<style>
${trusted(fontFaces())}${trusted(read('./pages.css'))}${trusted(read('./handout.css'))}</style>
</head>
<body>
<main>
<h1>Lockstep: the stages on one page</h1>
<p>Each stage mends one failure of the stage before, and leaves one of its own. What a stage leaves is the problem of the next.</p>
<div class="scroll" tabindex="0" role="region" aria-label="The stages"><table class="stages">
<thead><tr><th scope="col">Stage</th><th scope="col">Problem</th><th scope="col">Change</th><th scope="col">What it leaves</th><th scope="col">See it</th></tr></thead>
<tbody>${stages.map(row)}</tbody>
</table></div>
<div class="below">
${staircasePicture(stages, stages.length - 1)}
<div>
<p>${legend()}</p>
<p><b>All of it:</b> <code>npm start</code> tells the story, <code>npm run staircase</code> runs every drill under every stage, <code>npm run live</code> shows it on a page, <code>npm run diff -- 4</code> shows what stage 4 changes.</p>
<p><b>Three questions before you take a lock:</b> can the store do it in one step? Does the lock save work, or data? Can the resource compare a number at each read and write?</p>
</div>
</div>
</main>
</body>
</html>
`.markup;
}

function row({ name, problem, change, leaves, commands }: StageFacts): Html {
  return html`<tr><th scope="row">${name}</th><td>${capital(problem)}</td><td>${capital(change)}</td><td>${capital(leaves)}</td><td>${commands.map((command) => html`<code>${command}</code>`)}</td></tr>\n`;
}
