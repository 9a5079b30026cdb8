// What happened in a drill, drawn from left to right.

import { countOf, formatDuration, formatNumber, listOf } from '../evidence/numbers.ts';
import type { Timeline } from '../evidence/results.ts';
import { type Html, html } from './escape.ts';

type Lane = Timeline['lanes'][number];
type Fault = Timeline['faults'][number];

interface Span {
  fromMs: number;
  untilMs: number;
}

/** In a report, in pixels of a drawing as wide as it says. A window that is too narrow scrolls it. */
const WIDTH = 800;
/** The room for names left of the lanes. */
const LEFT = 198;
const FONT_SIZE = 18;
/** The most marks that the axis of time may have. */
const MAX_TICKS = 8;

interface Mark {
  ms: number;
  label: string;
}

const faultRowHeight = 36;
const textHeight = 22;
/** The heights of a lane: of the text above it, of its lease, of its bar, and of the gap below it. */
const lane = { text: textHeight, band: 26, bar: 16, gap: 8 };
const laneHeight = lane.text + lane.band + lane.gap;
const axisHeight = 30;
/** Of a common font, as a part of its size: on the wide side, so that no text is cut. */
const letterWidth = 0.58;
/** A sale of a few milliseconds in a drill of seconds is still seen. */
const minBarWidth = 4;

/** What happened in a drill: a lane for each sale, its leases behind it, the faults across, overlaps over two lanes. */
export function drawTimeline(title: string, timeline: Timeline): Html {
  return html`<figure class="timeline">
${drawing(describeTimeline(title, timeline), timeline)}${legend(timeline)}
${timeline.moreLanes > 0 && html`<figcaption>${countOf(timeline.moreLanes, 'more sale')}: not drawn.</figcaption>`}
</figure>`;
}

/** The hatchings of all timelines. Once in a page is enough. */
export function timelinePatterns(): Html {
  return html`<svg class="patterns" width="0" height="0" aria-hidden="true"><defs>
<pattern id="chart-fault" width="9" height="9" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="fault-hatch" d="M0 0V9"/></pattern>
<pattern id="chart-overlap" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><rect class="overlap-ground" width="7" height="7"/><path class="overlap-hatch" d="M0 0V7"/></pattern>
</defs></svg>`;
}

/** A timeline in one sentence, for a reader who can't see it. */
function describeTimeline(title: string, timeline: Timeline): string {
  const { lanes, moreLanes, faults, overlaps, durationMs } = timeline;
  const entered = lanes.filter(({ inside }) => inside !== undefined).length;
  const asked = lanes.length + moreLanes;
  const shown = moreLanes > 0 ? ` of the first ${lanes.length}` : '';
  const parts = [
    `${countOf(asked, 'sale')} asked for the lock in ${formatDuration(durationMs)}, ${entered}${shown} entered`,
    ...(faults.length > 0 ? [listOf(faults.map(describeFault))] : []),
    overlaps.length > 0
      ? `two were inside at the same moment ${countOf(overlaps.length, 'time')}`
      : 'no two were inside at the same moment',
  ];
  return `Timeline of ${title}: ${parts.join('; ')}.`;
}

function describeFault(fault: Fault) {
  const from = formatDuration(fault.fromMs);
  const until = fault.untilMs === undefined ? undefined : formatDuration(fault.untilMs);
  return `${nameFault(fault)} ${until === undefined ? `at ${from}` : `from ${from} to ${until}`}`;
}

function nameFault({ node, saleId, label }: Fault) {
  if (node === undefined) return label;
  return saleId === undefined ? `${node}: ${label}` : `sale ${saleId} on ${node}: ${label}`;
}

function drawing(label: string, timeline: Timeline): Html {
  const plot = plotOf(timeline);
  const { band, bar, gap } = lane;
  const marks = roundMarks(plot.endMs, MAX_TICKS).map(markAt);
  const { lanes } = timeline;
  const overlaps = timeline.overlaps.filter((overlap) => overlap.lanes.every((i) => i < lanes.length));
  const faults = placeFaults(timeline.faults, plot);
  const lanesTop = faults.reduce((rows, { row }) => Math.max(rows, row + 1), 0) * faultRowHeight + 4;
  const lanesBottom = lanesTop + Math.max(1, lanes.length) * laneHeight;
  const bandTop = (lane: number) => lanesTop + (lane + 1) * laneHeight - band - gap / 2;

  return html`<svg role="img" aria-label="${label}" viewBox="0 0 ${WIDTH} ${lanesBottom + axisHeight}" font-size="${FONT_SIZE}">
${marks.map(({ ms }) => line('grid', plot.at(ms), lanesTop, plot.at(ms), lanesBottom))}
${axisLine(marks, plot, lanesBottom)}
${lanes.map((_, i) => line('divider', 0, lanesTop + i * laneHeight, WIDTH, lanesTop + i * laneHeight))}
${lanes.map(({ leases }, i) => leases.map((lease) => box('lease', plot, lease, bandTop(i), band)))}
${faults.map((fault) => faultMark(fault, { lanes, lanesTop, lanesBottom }))}
${overlaps.length > 0 && html`<g class="joints">${overlaps.map((overlap) => joint(overlap, plot, bandTop))}</g>`}
${lanes.map((lane, i) => laneBars(lane, plot, bandTop(i)))}
${overlaps.map((overlap) => overlap.lanes.map((i) => box('overlap', plot, overlap, barTop(bandTop(i)), bar)))}
${lanes.map((lane, i) => laneTexts(lane, plot, bandTop(i)))}
${lanes.length === 0 && text('note', plot, LEFT + 6, lanesTop + laneHeight / 2, 'No sale asked for the lock.')}
${faults.map((fault) => faultLabel(fault, plot))}
</svg>
`;
}

interface Plot {
  endMs: number;
  /** The place of a moment. One after the end stands at the right edge. */
  at: (ms: number) => number;
  widthOf: (text: string) => number;
}

/** The time goes on to the last thing that happened, but for leases: one that lasts longer runs to the right edge. */
function plotOf({ durationMs, lanes, faults, overlaps }: Timeline): Plot {
  const moments = [
    ...lanes.flatMap(({ askedMs, inside, read, wrote, endedMs }) => [
      askedMs,
      inside?.untilMs,
      read?.ms,
      wrote?.ms,
      endedMs,
    ]),
    ...faults.flatMap(({ fromMs, untilMs }) => [fromMs, untilMs]),
    ...overlaps.map(({ untilMs }) => untilMs),
  ];
  const endMs = Math.max(1, durationMs, ...moments.map((ms) => ms ?? 0));
  return {
    endMs,
    at: (ms) => LEFT + Math.min(1, ms / endMs) * (WIDTH - LEFT - 2),
    widthOf: (text) => text.length * FONT_SIZE * letterWidth,
  };
}

function markAt(ms: number): Mark {
  return { ms, label: ms === 0 ? '0' : `${+(ms / 1000).toPrecision(6)} s` };
}

/** Round moments, as many as there is room for. */
export function roundMarks(endMs: number, most: number): number[] {
  const magnitude = 10 ** Math.floor(Math.log10(endMs / most));
  const stepMs = [1, 2, 5, 10].map((factor) => factor * magnitude).find((ms) => endMs / ms <= most) ?? endMs;
  return Array.from({ length: Math.floor(endMs / stepMs) + 1 }, (_, i) => i * stepMs);
}

function axisLine(marks: Mark[], plot: Plot, bottom: number): Html {
  return html`${line('axis', LEFT, bottom, WIDTH, bottom)}
${marks.map(({ ms, label }) => text('time', plot, plot.at(ms), bottom + 22, label, 'middle'))}`;
}

/** A sale that ended without entering has a mark at its end; one that waited to the end has none. */
function laneBars({ askedMs, inside, endedMs }: Lane, plot: Plot, bandTop: number): Html {
  const middle = bandTop + lane.band / 2;
  const until = plot.at(inside?.fromMs ?? endedMs ?? plot.endMs);
  const isVain = inside === undefined && endedMs !== undefined;
  return html`${line('wait', plot.at(askedMs), middle, until, middle)}
${isVain && line('wait', until, middle - 7, until, middle + 7)}
${inside !== undefined && box('inside', plot, inside, barTop(bandTop), lane.bar)}`;
}

/** The name of a lane, and what its sale read and wrote. */
function laneTexts({ node, saleId, askedMs, inside, read, wrote }: Lane, plot: Plot, bandTop: number): Html {
  const name = `${node} · sale ${saleId}`;
  const steps = [
    ...(read === undefined ? [] : [{ ms: read.ms, label: `read ${formatNumber(read.stock)}` }]),
    ...(wrote === undefined ? [] : [{ ms: wrote.ms, label: `wrote ${formatNumber(wrote.stock)}` }]),
  ];
  const note = 'never entered';
  return html`${text('name', plot, 0, bandTop + lane.band / 2 + 6, shorten(name, LEFT - 8, plot))}
${steps.map(({ ms }) => line('step', plot.at(ms), bandTop - 5, plot.at(ms), barTop(bandTop)))}
${stepTexts(steps, plot).map(({ left, label }) => text('told', plot, left, bandTop - 6, label))}
${inside === undefined && text('note', plot, placeText(note, plot.at(askedMs), plot), bandTop - 6, note)}`;
}

/** Each next to its mark. Two that would stand in each other's way become one text. */
function stepTexts(steps: { ms: number; label: string }[], plot: Plot): { left: number; label: string }[] {
  const placed = steps.map(({ ms, label }) => ({ left: placeText(label, plot.at(ms), plot), label }));
  const [first, second] = placed;
  if (first === undefined || second === undefined) return placed;
  if (second.left - first.left > plot.widthOf(first.label) + 8) return placed;
  const label = `${first.label}, ${second.label}`;
  return [{ left: placeText(label, plot.at(steps[0]?.ms ?? 0), plot), label }];
}

/** Where a text begins that stands at `x`, moved to the left when there is too little room. */
function placeText(label: string, x: number, plot: Pick<Plot, 'widthOf'>, left = LEFT): number {
  return Math.max(left, Math.min(x, WIDTH - plot.widthOf(label)));
}

/** `label` is cut to its room, and names the node. */
interface PlacedFault extends Fault {
  x: number;
  untilX: number;
  /** Where the label begins and ends. */
  from: number;
  to: number;
  row: number;
}

/** Labels that would stand in each other's way get rows of their own: a later fault stands lower, so no line crosses a label. */
function placeFaults(faults: Fault[], plot: Plot): PlacedFault[] {
  const placed: PlacedFault[] = [];
  const bold = { widthOf: (text: string) => plot.widthOf(text) * 1.15 };
  for (const fault of [...faults].sort((a, b) => a.fromMs - b.fromMs)) {
    const label = shorten(nameFault(fault), WIDTH, bold);
    const x = plot.at(fault.fromMs);
    const untilX = fault.untilMs === undefined ? x : Math.max(x + minBarWidth, plot.at(fault.untilMs));
    const from = placeText(label, x, bold, 0);
    const to = Math.max(from + bold.widthOf(label), untilX);
    const rows = placed.filter((other) => other.to + 12 > Math.min(from, x) - 8).map(({ row }) => row);
    placed.push({ ...fault, label, x, untilX, from, to, row: Math.max(-1, ...rows) + 1 });
  }
  return placed;
}

interface Lanes {
  lanes: Lane[];
  lanesTop: number;
  lanesBottom: number;
}

/** Strong over the lanes that it concerns: its sale, those of its node, or all. A thin line leads to it from its label. */
function faultMark({ node, saleId, x, untilX, untilMs, row }: PlacedFault, of: Lanes): Html {
  const { lanes, lanesTop, lanesBottom } = of;
  const concerned = lanes.flatMap((lane, i) =>
    lane.node === node && (saleId === undefined || lane.saleId === saleId) ? [i] : [],
  );
  const areas =
    node === undefined || concerned.length === lanes.length
      ? [{ top: lanesTop, bottom: lanesBottom }]
      : concerned.map((i) => ({ top: lanesTop + i * laneHeight, bottom: lanesTop + (i + 1) * laneHeight }));
  const last = areas.at(-1)?.bottom ?? lanesTop;
  return html`${line('leader', x, (row + 1) * faultRowHeight, x, last)}
${areas.map(({ top, bottom }) =>
  untilMs === undefined
    ? line('fault', x, top, x, bottom)
    : html`<rect class="fault-span" x="${tenth(x)}" y="${top}" width="${tenth(Math.min(untilX, WIDTH) - x)}" height="${bottom - top}"/>`,
)}`;
}

function faultLabel({ label, x, untilX, untilMs, from, row }: PlacedFault, plot: Plot): Html {
  const bottom = (row + 1) * faultRowHeight - 3;
  const mark =
    untilMs === undefined
      ? html`<path class="arrow" d="M${tenth(x - 7)} ${bottom - 10}h14l-7 12z"/>`
      : html`<path class="bracket" d="M${tenth(x)} ${bottom + 4}v-6H${tenth(untilX)}v6"/>`;
  return html`${mark}${text('fault-label', plot, from, bottom - 14, label)}\n`;
}

/** The band that joins two lanes which were inside at the same moment. */
function joint(overlap: Timeline['overlaps'][number], plot: Plot, bandTop: (lane: number) => number): Html {
  const top = bandTop(Math.min(...overlap.lanes)) + lane.band;
  return box('joint', plot, overlap, top, bandTop(Math.max(...overlap.lanes)) - top);
}

/** A bar stands in the middle of its band. */
function barTop(bandTop: number): number {
  return bandTop + (lane.band - lane.bar) / 2;
}

function legend({ lanes, overlaps }: Timeline): Html | false {
  if (lanes.length === 0) return false;
  return html`<ul class="legend">
<li><i class="line waits"></i> waits</li>
<li><i class="swatch inside"></i> inside</li>
${lanes.some(({ leases }) => leases.length > 0) && html`<li><i class="swatch lease"></i> has the lock in Redis</li>\n`}
${overlaps.length > 0 && html`<li><i class="swatch overlap"></i> two inside at the same moment</li>\n`}
</ul>`;
}

function line(kind: string, x1: number, y1: number, x2: number, y2: number): Html {
  return html`<path class="${kind}" d="M${tenth(x1)} ${y1}${x1 === x2 ? `V${y2}` : `H${tenth(x2)}`}"/>`;
}

function box(kind: string, plot: Plot, { fromMs, untilMs }: Span, y: number, height: number): Html {
  const x = Math.min(plot.at(fromMs), WIDTH - minBarWidth);
  const width = Math.max(minBarWidth, plot.at(untilMs) - x);
  return html`<rect class="${kind}" x="${tenth(x)}" y="${y}" width="${tenth(width)}" height="${Math.max(0, height)}"/>`;
}

function text(kind: string, plot: Plot, x: number, y: number, label: string, anchor?: 'middle'): Html {
  const half = plot.widthOf(label) / 2;
  const isAtEdge = anchor === 'middle' && x + half > WIDTH;
  const at = isAtEdge ? WIDTH : anchor === 'middle' ? Math.max(x, half) : x;
  const how = isAtEdge ? 'end' : anchor;
  return html`<text class="${kind}" x="${tenth(at)}" y="${y}"${how !== undefined && html` text-anchor="${how}"`}>${label}</text>`;
}

/** Cuts a text that is too long for its room. */
function shorten(text: string, room: number, { widthOf }: Pick<Plot, 'widthOf'>): string {
  if (widthOf(text) <= room) return text;
  return `${text.slice(0, Math.max(1, Math.floor((text.length * room) / widthOf(text)) - 1))}…`;
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
