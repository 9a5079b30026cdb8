// What a report says of a service that was judged by its wire.

import type { ServiceTold } from '../evidence/judgement.ts';
import type { DrillResult } from '../evidence/results.ts';
import { formatDuration, formatNumber } from '../narration/numbers.ts';
import { pairsOf } from './document.ts';
import { type Html, html } from './escape.ts';

/** What was learned, as pairs of a name and a value. */
export function learnedPairs(service: ServiceTold): [name: string, value: string][] {
  const { command, sale, stock, read, write, answers, lock, isShared, patienceMs } = service;
  const lease = lock.leaseMs === null ? 'without an end' : `a lease of ${formatDuration(lock.leaseMs)}`;
  const renewed = lock.isRenewed ? ', renewed while a sale is inside' : '';
  const released = lock.release.length > 0 ? `, given up by ${lock.release.join(', ')}` : '';
  const ownLock = /\bfor\s+update\b/i.test(read ?? '') ? 'the row, locked as it is read' : 'none is seen in Redis';
  const asked: [string, string][] = [
    ['A sale', sale],
    ['Sold', answers.sold],
    ...(answers.soldOut === undefined ? [] : [['Sold out', answers.soldOut] as [string, string]]),
    ...(answers.busy === undefined ? [] : [['Not let in', answers.busy] as [string, string]]),
  ];
  if (command === undefined) return [...asked, ['Stock', stock], ['Lock', 'not seen: its copies run already']];
  return [
    ...asked,
    [
      'Stock',
      write === ''
        ? `${stock}, read and written unseen`
        : read === undefined
          ? `${stock}, taken from by ${write}`
          : `${stock}, read by ${read}, written by ${write}`,
    ],
    ['Lock', lock.keys.length > 0 ? `${lock.keys.join(', ')}, ${lease}${renewed}${released}` : ownLock],
    [
      'Connections',
      `${isShared ? 'one for all sales of a copy' : 'more than one'}; its client ${
        patienceMs === null ? 'waits long for an answer' : `waits ${formatDuration(patienceMs)} for an answer`
      }`,
    ],
  ];
}

export function serviceSection(service: ServiceTold): Html {
  const { command, oneSale } = service;
  return html`<section>
<h2>The service, as it was learned</h2>
${command !== undefined && html`<pre><code>${command}</code></pre>`}
${pairsOf('environment', learnedPairs(service))}
${
  oneSale.length > 0 &&
  html`<p>One sale that nobody disturbed, as its commands passed:</p>
<pre><code>${oneSale.join('\n')}</code></pre>`
}
</section>`;
}

/** What passed on the wire in a drill, with its times. */
export function wireTable({ wire = [] }: DrillResult): Html | false {
  if (wire.length === 0) return false;
  return html`<details class="wire"><summary>On the wire: ${formatNumber(wire.length)} commands</summary>
<table><thead><tr><th scope="col">Time</th><th scope="col">Node</th><th scope="col">Command</th><th scope="col">Answer</th></tr></thead>
<tbody>
${wire.map(({ ms, node, command, answer }) => html`<tr><td>${formatDuration(ms)}</td><td>${node}</td><td><code>${command}</code></td><td><code>${answer}</code></td></tr>\n`)}</tbody></table></details>`;
}
