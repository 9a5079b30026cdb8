// What a report says of a service that was judged by its wire.

import type { ServiceTold } from '../evidence/judgement.ts';
import type { DrillResult } from '../evidence/results.ts';
import { formatDuration, formatNumber } from '../narration/numbers.ts';
import { pairsOf } from './document.ts';
import { type Html, html } from './escape.ts';

/** What was learned, as pairs of a name and a value. */
export function learnedPairs(service: ServiceTold): (readonly [name: string, value: string])[] {
  const { command, sale, answers, isShared, patienceMs } = service;
  const waits = patienceMs === null ? 'waits long' : `waits ${formatDuration(patienceMs)}`;
  const pairs = [
    ['A sale', sale],
    ['Sold', answers.sold],
    ['Sold out', answers.soldOut],
    ['Not let in', answers.busy],
    ['Stock', command === undefined ? service.stock : stockInWords(service)],
    ['Lock', command === undefined ? 'not seen: its copies run already' : lockInWords(service)],
    [
      'Connections',
      command && `${isShared ? 'one for all sales of a copy' : 'more than one'}; its client ${waits} for an answer`,
    ],
  ] as const;
  return pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

function stockInWords({ stock, read, write }: ServiceTold): string {
  if (write === '') return `${stock}, read and written unseen`;
  return read === undefined ? `${stock}, taken from by ${write}` : `${stock}, read by ${read}, written by ${write}`;
}

function lockInWords({ read = '', lock: { keys, leaseMs, isRenewed, release } }: ServiceTold): string {
  if (keys.length === 0)
    return /\bfor\s+update\b/i.test(read) ? 'the row, locked as it is read' : 'none is seen in Redis';
  const lease = leaseMs === null ? 'without an end' : `a lease of ${formatDuration(leaseMs)}`;
  const renewed = isRenewed ? ', renewed while a sale is inside' : '';
  const released = release.length > 0 ? `, given up by ${release.join(', ')}` : '';
  return `${keys.join(', ')}, ${lease}${renewed}${released}`;
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
