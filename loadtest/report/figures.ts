// The names of the figures, how each is written, and what each stage left in stock.

import type { Results, RushFigures, StepFigures } from '../evidence/results.ts';
import { type Both, inLanguage } from '../narration/language.ts';
import { capitalised, formatMeasure, formatNumber } from '../narration/numbers.ts';
import { durationSaid, either } from '../narration/spoken.ts';
import { type BarRow, barTable } from './bars.ts';
import { type MeasuredDrill, measuredRushes, questionOf } from './cells.ts';
import { type Html, html } from './escape.ts';
import { anchor } from './marks.ts';

/** A figure in a table. */
interface Shown {
  name: string;
  text: string;
  /** Whether the figure shows a broken lock. */
  isDamage?: boolean;
  /** Nobody knows it: that must never read as zero. */
  isUnknown?: true;
}

export const soldTwice = () => either('sold twice', '重复卖出');
export const oversoldName = () => either('oversold', '超卖');

/** The figures by which stages are compared. */
export function comparedFigures(figures: RushFigures): Shown[] {
  const { sold, expectedStock, finalStock, lostUpdates, oversold, throughput, latencyMs } = figures;
  const measure = (name: string, value?: number) => ({
    name,
    text: value === undefined ? either('not measured', '没有测量') : formatMeasure(value),
    ...(value === undefined && { isUnknown: true as const }),
  });
  return [
    { name: either('sold', '卖出'), text: formatNumber(sold) },
    { name: either('expected stock', '应有库存'), text: formatNumber(expectedStock) },
    { name: either('final stock', '最终库存'), text: formatNumber(finalStock) },
    { name: soldTwice(), text: formatNumber(lostUpdates), isDamage: lostUpdates !== 0 },
    { name: oversoldName(), text: formatNumber(oversold), isDamage: oversold > 0 },
    measure(either('sales/s', '笔/秒'), throughput),
    measure('p50 ms', latencyMs?.p50),
    measure('p99 ms', latencyMs?.p99),
    measure(either('Redis/sale', '命令/笔'), figures.redisCommandsPerSale),
  ];
}

/** How a figure of a drill that goes step by step is named, where its own name does not say it: that one is told in words. */
const stepFigureNames: Record<string, Both> = {
  takeoverMs: ['Until the other node sold again', '另一个节点重新卖出用时'],
  keptOutMs: ['Nobody else could enter for', '别人无法进入的时间'],
  answeredMs: ['Until the nested sale was answered', '嵌套加锁的销售得到响应用时'],
  slowestMs: ['Slowest answer without Redis', 'Redis 不可用时最慢的响应'],
  backMs: ['First sale after Redis came back', 'Redis 恢复后到第一笔销售'],
  emptyMs: ['Until nobody waited', '到不再有人等待'],
  lostUpdates: ['Sold twice', '重复卖出'],
  mostInside: ['Most inside at once', '同时进入的最多人数'],
  overtakes: ['Later arrivals that went first', '插队的后来者'],
  usualMs: ['A sale before the fault', '故障之前一笔销售用时'],
  costMs: ['Added per sale', '每笔销售多用'],
  limitMs: ['Limit', '上限'],
  meanwhile: ['Runs that began meanwhile', '其间开始的任务次数'],
  late: ['Runs that began late', '触发晚了的任务次数'],
  overlaps: ['Overlaps', '重叠次数'],
  sold: ['Sold', '卖出'],
  inDoubt: ['In doubt', '结果不明'],
  finalStock: ['Final stock', '最终库存'],
  expectedStock: ['Expected stock', '应有库存'],
  nextSaleMs: ['Next sale', '下一笔销售用时'],
  slowestSaleMs: ['Slowest sale', '最慢的一笔销售'],
  waitedMs: ['Waited', '等待时间'],
  overtaken: ['Overtaken', '被插队的等待者'],
  asked: ['Asked', '申请加锁的等待者'],
  bytesPerTry: ['Bytes per try', '每次重试占用的字节'],
  tries: ['Tries', '重试次数'],
  unsold: ['Unsold', '没有卖出'],
  cutOff: ['Cut off', '中断的请求'],
  stillWaiting: ['Still waiting', '仍在等待'],
  soldToNobody: ['Sold to nobody', '卖给已离开的客户端'],
  earlyAnswers: ['Early answers', '太早的响应'],
  readersAtOnce: ['Readers at once', '同时进入的读者'],
  due: ['Due', '到期的订单'],
  restored: ['Restored', '归还的件数'],
  closed: ['Closed', '关闭的订单'],
  orders: ['Orders', '订单'],
  refunds: ['Refunds', '退款'],
  payments: ['Payments', '付款'],
  messages: ['Messages', '消息'],
  units: ['Units', '件数'],
  sent: ['Sent', '发出的请求'],
  refused: ['Refused', '拒绝的请求'],
  soldMeanwhile: ['Sold meanwhile', '其间卖出'],
};

/** Every figure of a drill that goes step by step. */
export function shownFigures(figures: StepFigures): Shown[] {
  return Object.entries(figures).map(([key, value]) => ({
    name: nameOf(key),
    text: textOf(key, value),
    isDamage: (key === 'lostUpdates' || key === 'overlaps') && value > 0,
  }));
}

function nameOf(key: string): string {
  const name = stepFigureNames[key];
  return name === undefined ? inWords(key) : inLanguage(name);
}

/** `slowestSaleMs` as `Slowest sale`. */
function inWords(key: string): string {
  const words = key.replace(/Ms$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return capitalised(words);
}

function textOf(key: string, value: number): string {
  if (key.endsWith('Ms')) return durationSaid(value);
  return Number.isInteger(value) ? formatNumber(value) : formatMeasure(value);
}

/** A cell of a table; it stands out where the figure shows a broken lock. */
export function figureCell({ text, isDamage = false }: Shown): Html {
  return html`<td class="${isDamage && 'damage'}">${text}</td>`;
}

export const finalStockTitle = () => either('The final stock', '最终库存');

/** What each stage left in stock, drill by drill, with its speed beside it. */
export function finalStock(results: Results): Html | false {
  const drills = measuredRushes(results);
  if (drills.length === 0) return false;
  return html`<section id="${anchor(finalStockTitle())}">
<h2>${finalStockTitle()}</h2>
<ul class="legend">
<li><i class="swatch expected"></i> ${either('expected stock: the initial stock minus the units sold', '应有库存：初始库存减去卖出的件数')}</li>
<li><i class="swatch final"></i> ${either('final stock, as expected', '最终库存，符合预期')}</li>
<li><i class="swatch wrong"></i> ${either('final stock, not as expected', '最终库存，不符合预期')}</li>
</ul>
${drills.map(stockTable)}</section>`;
}

function stockTable({ drill, stages }: MeasuredDrill): Html {
  const shown = stages.map(({ figures }) => comparedFigures(figures));
  const rows = stages.map(({ stage, figures: { expectedStock, finalStock } }, row): BarRow => {
    const kind = finalStock === expectedStock ? 'final' : 'wrong';
    return {
      name: stage,
      bars: [
        { value: expectedStock, kind: 'expected' },
        { value: finalStock, kind },
      ],
      cells: shown[row]?.map(figureCell) ?? [],
    };
  });
  const title = [drill, questionOf(drill)].filter(Boolean).join(either(': ', '：'));
  const heads = shown[0]?.map(({ name }) => name) ?? [];
  return barTable(title, heads, rows);
}
