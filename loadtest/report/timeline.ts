// What happened in a drill, from left to right: a lane for each fault and for each sale. The browser finds the width of the names.

import type { Facts, Timeline } from '../evidence/results.ts';
import type { Deed } from '../narration/faults.ts';
import { type Both, inLanguage } from '../narration/language.ts';
import { countOf, formatNumber } from '../narration/numbers.ts';
import { deedSaid, durationSaid, either, isChinese, listSaid } from '../narration/spoken.ts';
import { type Html, html } from './escape.ts';

/** The most marks that the axis of time may have. */
const MAX_TICKS = 6;

/** A part of a lane. One without an end is a moment. */
interface Part {
  kind: 'waits' | 'lease' | 'inside' | 'overlap' | 'fault' | 'step';
  fromMs: number;
  untilMs?: number | undefined;
}

interface Row {
  name: string;
  note: string;
  parts: Part[];
}

const words: Record<Part['kind'], Both> = {
  waits: ['waits', '等待'],
  inside: ['inside', '在临界区内'],
  lease: ['has the lock in Redis', '在 Redis 里持有锁'],
  overlap: ['two inside at the same moment', '两个同时在临界区内'],
  fault: ['fault', '故障'],
  step: ['step', '步骤'],
};
/** Those that have a colour of their own. */
const inLegend = ['waits', 'inside', 'lease', 'overlap'] as const;

/** The lanes of a drill, the faults above the sales. `deeds`: what the faults of the timeline are, where that is known. */
export function drawTimeline(title: string, timeline: Timeline, deeds?: Facts['deeds']): Html {
  const rows = [...faultRows(timeline, deeds), ...timeline.lanes.map((_, i) => saleRow(timeline, i))];
  const moments = rows.flatMap(({ parts }) => parts.flatMap(({ fromMs, untilMs = 0 }) => [fromMs, untilMs]));
  const endMs = Math.max(1, timeline.durationMs, ...moments);
  const share = (ms: number) => Math.round((10_000 * ms) / endMs) / 100;
  const marks = roundMarks(endMs, MAX_TICKS);
  const kinds = new Set(rows.flatMap(({ parts }) => parts.map(({ kind }) => kind)));

  const draw = ({ kind, fromMs, untilMs }: Part) =>
    html`<i class="${kind}${untilMs === undefined && ' moment'}" style="left: ${share(fromMs)}%; width: ${share((untilMs ?? fromMs) - fromMs)}%"></i>`;
  return html`<figure class="timeline" aria-label="${either(`Timeline of ${title}`, `时间线：${title}`)}">
<div class="lanes">
${rows.map(
  ({ name, note, parts }) => html`<p><b>${name}</b> <em>${note}</em></p>
<div class="track" role="img" aria-label="${listSaid(parts.map(say))}">${marks.map((ms) => html`<i class="mark" style="left: ${share(ms)}%"></i>`)}${parts.map(draw)}</div>
`,
)}<p></p><div class="axis">${marks.map((ms) => html`<span style="left: ${share(ms)}%">${ms === 0 ? '0' : durationSaid(ms)}</span>`)}</div>
</div>
<ul class="legend">${inLegend.map((kind) => kinds.has(kind) && html`<li><i class="swatch ${kind}"></i> ${inLanguage(words[kind])}</li>\n`)}</ul>
${timeline.moreLanes > 0 && html`<figcaption>${either(`${countOf(timeline.moreLanes, 'more sale')}: not drawn.`, `还有 ${formatNumber(timeline.moreLanes)} 笔销售没有画出。`)}</figcaption>`}
</figure>`;
}

/** A fault that comes again has one lane. */
function faultRows({ faults }: Timeline, deeds: Facts['deeds'] = []): Row[] {
  const rows = new Map<string, Row>();
  for (const [at, { node, saleId, label, fromMs, untilMs }] of faults.entries()) {
    const deed = deeds[at] as Deed | undefined;
    const hit = [node, saleId && saleIn(saleId)].filter(Boolean).join(' · ');
    const name = deed && isChinese() ? deedSaid(deed) : label;
    const row = rows.get(`${label} ${hit}`) ?? { name, note: hit, parts: [] };
    rows.set(`${label} ${hit}`, row);
    row.parts.push({ kind: 'fault', fromMs, untilMs });
  }
  return [...rows.values()];
}

/** What the sale of a lane read and wrote stands below its name. */
function saleRow({ lanes, overlaps, durationMs }: Timeline, i: number): Row {
  const { node = '', saleId = '', askedMs = 0, inside, read, wrote, endedMs, leases = [] } = lanes[i] ?? {};
  const steps = [
    read && either(`read ${formatNumber(read.stock)}`, `读到 ${formatNumber(read.stock)}`),
    wrote && either(`wrote ${formatNumber(wrote.stock)}`, `写入 ${formatNumber(wrote.stock)}`),
  ];
  const met = overlaps.filter((overlap) => overlap.lanes.includes(i));
  const moments = [read, wrote].flatMap((step) => (step ? [{ kind: 'step' as const, fromMs: step.ms }] : []));
  return {
    name: `${node} · ${saleIn(saleId)}`,
    note: inside ? steps.filter(Boolean).join(either(', ', '，')) : either('never entered', '没有进入'),
    parts: [
      ...leases.map((lease): Part => ({ kind: 'lease', ...lease })),
      { kind: 'waits', fromMs: askedMs, untilMs: inside?.fromMs ?? endedMs ?? durationMs },
      ...(inside ? [{ kind: 'inside' as const, ...inside }] : []),
      ...met.map(({ fromMs, untilMs }): Part => ({ kind: 'overlap', fromMs, untilMs })),
      ...moments,
    ],
  };
}

/** `inside from 12 ms to 1 s`, for a reader who can't see it. */
function say({ kind, fromMs, untilMs }: Part): string {
  const [from, word] = [durationSaid(fromMs), inLanguage(words[kind])];
  if (untilMs === undefined) return either(`${word} at ${from}`, `${word}：${from}`);
  return either(`${word} from ${from} to ${durationSaid(untilMs)}`, `${word}：${from}到 ${durationSaid(untilMs)}`);
}

const saleIn = (saleId: string) => either(`sale ${saleId}`, `销售 ${saleId}`);

/** Round moments, as many as there is room for. */
function roundMarks(endMs: number, most: number): number[] {
  const magnitude = 10 ** Math.floor(Math.log10(endMs / most));
  const stepMs = [1, 2, 5, 10].map((factor) => factor * magnitude).find((ms) => endMs / ms <= most) ?? endMs;
  return Array.from({ length: Math.floor(endMs / stepMs) + 1 }, (_, i) => i * stepMs);
}
