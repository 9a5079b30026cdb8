// What every report is made of: one page that needs nothing but itself, without a script, and nothing is fetched from anywhere.

import { readFileSync } from 'node:fs';
import type { Results } from '../evidence/results.ts';
import { spoken } from '../narration/language.ts';
import { formatMeasure, formatNumber } from '../narration/numbers.ts';
import { either } from '../narration/spoken.ts';
import { type Html, html, trusted } from './escape.ts';
import { anchor } from './marks.ts';

/** The page of a report. */
export function renderDocument(title: string, header: Html, sections: (Html | false | Html[])[]): string {
  const css = readFileSync(new URL('report.css', import.meta.url), 'utf8');
  const page = html`<!doctype html>
<html lang="${spoken() === 'zh' ? 'zh-CN' : 'en'}">
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

export const howTitle = () => either('How it was run', '运行环境');

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
    ...(nodes === undefined ? [] : [[either('Nodes that sell', '售卖的节点'), formatNumber(nodes)] as const]),
    ...Object.entries(backends),
    ['Node', node],
    [either('System', '系统'), os],
    [either('CPUs', 'CPU'), cpus],
    [either('Load at the start', '开始时的负载'), formatMeasure(load)],
    [either('Commit', '提交'), commit],
  ] as const;
  return html`<section id="${anchor(howTitle())}">
<h2>${howTitle()}</h2>
<p>${either('To repeat it:', '重新运行：')}</p>
<pre><code>${command}</code></pre>
${pairsOf('environment', lines)}
</section>`;
}

/** Names, each with its value. */
export const pairsOf = (kind: string, pairs: readonly (readonly string[])[]): Html => html`<dl class="${kind}">
${pairs.map(([name = '', value = '']) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
