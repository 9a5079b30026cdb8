// What a report says of a service that was judged by its wire.

import type { ServiceTold } from '../evidence/judgement.ts';
import type { DrillResult } from '../evidence/results.ts';
import { formatNumber } from '../narration/numbers.ts';
import { durationSaid, either, listSaid } from '../narration/spoken.ts';
import { pairsOf } from './document.ts';
import { type Html, html } from './escape.ts';

/** What was learned, as pairs of a name and a value. */
export function learnedPairs(service: ServiceTold): (readonly [name: string, value: string])[] {
  const { command, sale, answers, isShared, patienceMs } = service;
  const patience = patienceMs === null ? undefined : durationSaid(patienceMs);
  const waits = patience === undefined ? 'waits long' : `waits ${patience}`;
  const waitsInChinese = patience === undefined ? '等响应的时间很长' : `等响应 ${patience}`;
  const pairs = [
    [either('A sale', '购买'), sale],
    [either('Sold', '卖出时的响应'), answers.sold],
    [either('Sold out', '售罄时的响应'), answers.soldOut],
    [either('Not let in', '没拿到锁时的响应'), answers.busy],
    [either('Stock', '库存'), command === undefined ? service.stock : stockInWords(service)],
    [
      either('Lock', '锁'),
      command === undefined
        ? either('unknown: the copies were running already', '未知：两个副本已在运行')
        : lockInWords(service),
    ],
    [
      either('Connections', '连接'),
      command &&
        either(
          `${isShared ? 'one for all sales of a copy' : 'more than one'}; its client ${waits} for an answer`,
          `${isShared ? '每个副本的销售共用一条' : '多条'}；客户端${waitsInChinese}`,
        ),
    ],
  ] as const;
  return pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

function stockInWords({ stock, read, write }: ServiceTold): string {
  if (write === '') return either(`${stock}; its reads and writes were not seen`, `${stock}，看不到读和写`);
  return read === undefined
    ? either(`${stock}, taken from by ${write}`, `${stock}，用 ${write} 扣减`)
    : either(`${stock}, read by ${read}, written by ${write}`, `${stock}，用 ${read} 读，用 ${write} 写`);
}

function lockInWords({ read = '', lock: { keys, leaseMs, isRenewed, release } }: ServiceTold): string {
  if (keys.length === 0)
    return /\bfor\s+update\b/i.test(read)
      ? either('the row, locked as it is read', '库存所在的行，读取时加锁')
      : either('none was seen in Redis', '在 Redis 里没有看到锁');
  const lease =
    leaseMs === null
      ? either('without a TTL', '没有过期时间')
      : either(`a lease of ${durationSaid(leaseMs)}`, `租期 ${durationSaid(leaseMs)}`);
  const renewed = isRenewed ? either('renewed while a sale is inside', '销售期间会续期') : '';
  const released =
    release.length > 0 ? either(`released by ${release.join(', ')}`, `用 ${listSaid(release)} 释放`) : '';
  return [...keys, lease, renewed, released].filter(Boolean).join(either(', ', '，'));
}

export function serviceSection(service: ServiceTold): Html {
  const { command, oneSale } = service;
  return html`<section>
<h2>${either('What was learned of the service', '对服务的了解')}</h2>
${command !== undefined && html`<pre><code>${command}</code></pre>`}
${pairsOf('environment', learnedPairs(service))}
${
  oneSale.length > 0 &&
  html`<p>${either('The commands of one sale without a fault:', '没有故障时，一笔销售的命令：')}</p>
<pre><code>${oneSale.join('\n')}</code></pre>`
}
</section>`;
}

/** What passed on the wire in a drill, with its times. */
export function wireTable({ wire = [] }: DrillResult): Html | false {
  if (wire.length === 0) return false;
  const columns = either(['Time', 'Node', 'Command', 'Answer'], ['时间', '节点', '命令', '响应']);
  return html`<details class="wire"><summary>${either(`On the wire: ${formatNumber(wire.length)} commands`, `线路上的 ${formatNumber(wire.length)} 条命令`)}</summary>
<table><thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${wire.map(({ ms, node, command, answer }) => html`<tr><td>${durationSaid(ms)}</td><td>${node}</td><td><code>${command}</code></td><td><code>${answer}</code></td></tr>\n`)}</tbody></table></details>`;
}
