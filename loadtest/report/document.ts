// What every report is made of: one page that needs nothing but itself, without a script, and nothing is fetched from anywhere.

import { readFileSync } from 'node:fs';
import type { Results } from '../evidence/results.ts';
import { formatMeasure, formatNumber } from '../narration/numbers.ts';
import { type Html, html, trusted } from './escape.ts';
import { anchor } from './marks.ts';

/** The page of a report. */
export function renderDocument(title: string, header: Html, sections: (Html | false | Html[])[]): string {
  const css = readFileSync(new URL('report.css', import.meta.url), 'utf8');
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${title} · Lockstep</title>
<style>
${trusted(css)}</style>
</head>
<body>
${header}
<main>
${sections}
</main>
</body>
</html>
`;
  return page.markup;
}

/** The section that says how a run was set, as pairs of a name and a value, and what it ran on. */
export function howItWasRun(
  command: string,
  environment: Results['environment'],
  settings: (readonly [name: string, value: string])[],
): Html {
  const { node, os, cpus, redis, nginx, nodes, backends, commit, load } = environment;
  const lines = [
    ...settings,
    ['Redis', `${redis.version}, ${redis.kind}`],
    ['nginx', nginx],
    ...(nodes === undefined ? [] : [['Nodes that sell', formatNumber(nodes)] as const]),
    ...Object.entries(backends),
    ['Node', node],
    ['System', os],
    ['CPUs', cpus],
    ['Load when it began', formatMeasure(load)],
    ['Commit', commit],
  ] as const;
  return html`<section id="${anchor('How it was run')}">
<h2>How it was run</h2>
<p>To repeat it:</p>
<pre><code>${command}</code></pre>
${pairsOf('environment', lines)}
</section>`;
}

/** Names, each with its value. */
export const pairsOf = (kind: string, pairs: readonly (readonly string[])[]): Html => html`<dl class="${kind}">
${pairs.map(([name = '', value = '']) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
