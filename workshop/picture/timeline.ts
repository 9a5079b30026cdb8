// The playing as lanes: a dot for each beat, a bar while a sale is inside, and the lock below. The diamond marks the deciding moment.

import { html } from 'htm/preact';
import { inLanguage } from '../../loadtest/narration/language.ts';
import type { Beat, Beats, SaleScene } from './beats.ts';
import { colour, letter, Text } from './shapes.ts';

interface TimelineProps {
  beats: Beats;
  pos: number;
  w: number;
  /** The deciding beat, and whether it breaks the lock. */
  turning: { at: number; isBad: boolean } | undefined;
  go: (pos: number) => void;
  /** What happens at this moment, as text. */
  label: string;
}

const ROW = 20;
const LOCK = 'lock';

export function Timeline({ beats: { beats, scenes, place }, pos, w, turning, go, label }: TimelineProps) {
  const sales = [...new Set(scenes.flatMap((scene) => scene.sales.map(({ sale }) => sale)))];
  const isInRedis = place === 'redis' || place === 'permits';
  const lanes = isInRedis ? [...sales, LOCK] : sales;
  const left = w < 620 ? 36 : 54;
  const step = (w - left - 20) / beats.length;
  const x = (scene: number) => left + 8 + scene * step;
  const y = (lane: string) => 13 + lanes.indexOf(lane) * ROW;
  const h = lanes.length * ROW + 8;
  // Without a lock the time from the read to the write must not overlap.
  const isIn = ({ isDead, read, wrote, place: is }: SaleScene) =>
    !isDead && (place === 'none' ? read !== undefined && wrote === undefined : is === 'inside');
  const insideAt = (scene: number) => scenes[scene]?.sales.filter(isIn).map(({ sale }) => sale) ?? [];
  const bar = (kind: string, lane: string, height: number, [from, to]: Span) =>
    html`<rect class=${kind} x=${x(from)} y=${y(lane) - height / 2} width=${x(to) - x(from)} height=${height} rx=${height / 2} />`;
  const spans = (isSo: (scene: number) => boolean) => spansOf(beats.length, isSo);
  const [first = LOCK] = lanes;
  return html`<div class="timeline">
    <svg width=${w} height=${h} viewBox=${`0 0 ${w} ${h}`} aria-hidden="true">
      ${lanes.map((lane) => {
        const name = lane === LOCK ? inLanguage(['lock', '锁']) : letter(lane);
        return html`<${Text} class=${lane === LOCK ? 'lane' : `lane ${colour(lane)}`} x=${4} y=${y(lane)} texts=${[name]} room=${left - 6} size=${13} isBold=${lane !== LOCK} />
          <line class="way" x1=${left} x2=${w - 8} y1=${y(lane)} y2=${y(lane)} />`;
      })}
      ${spans((scene) => place !== 'permits' && insideAt(scene).length > 1).map(([from, to]) => html`<rect class="crowd" x=${x(from)} y=${y(first) - 11} width=${x(to) - x(from)} height=${sales.length * ROW} rx="4" />`)}
      ${sales.flatMap((sale) => spans((scene) => insideAt(scene).includes(sale)).map((span) => bar(`inside ${colour(sale)}`, sale, 14, span)))}
      ${
        isInRedis &&
        [...new Set(scenes.map(({ holder }) => holder))].flatMap((holder = '') =>
          spans((scene) => scenes[scene]?.lock !== undefined && (scenes[scene].holder ?? '') === holder).map((span) =>
            bar(`inside ${colour(holder)}`, LOCK, 10, span),
          ),
        )
      }
      <rect class="future" x=${x(pos) + 1} y="0" width=${Math.max(0, w - x(pos) - 1)} height=${h} />
      <line class="now" x1=${x(pos)} x2=${x(pos)} y1="0" y2=${h} />
      ${beats.map((beat, at) => {
        const later = at + 1 > pos ? ' later' : '';
        const rows = lanesOf(beat, sales);
        const cx = x(at + 1);
        if (turning?.at === at)
          return html`<${Diamond} x=${cx} y=${rows[0] === undefined ? h / 2 : y(rows[0])} isBad=${turning.isBad} later=${later} />`;
        if (beat.kind === 'end') return html`<rect class="end" x=${cx - 4} y=${h / 2 - 4} width="8" height="8" />`;
        return rows.map(
          (lane) =>
            html`<circle class=${`beat ${colour(lane === LOCK ? beat.sale : lane)}${later}`} cx=${cx} cy=${y(lane)} r=${beat.times > 1 || step < 14 ? 3.5 : 5} />`,
        );
      })}
    </svg>
    <input type="range" min="0" max=${beats.length} step="0.02" value=${pos} aria-label=${inLanguage(['Moment', '时刻'])} aria-valuetext=${label}
      style=${{ left: `${left}px`, width: `${w - left - 4}px` }} onInput=${(event: Event) => go(Number((event.target as HTMLInputElement).value))} />
  </div>`;
}

/** The lanes of a beat. */
function lanesOf({ kind, sale }: Beat, sales: string[]): string[] {
  if (kind === 'lease-end') return [LOCK];
  if (kind === 'come' && !sales.includes(sale)) return sales.filter((each) => sale.includes(each));
  return sales.includes(sale) ? [sale] : [];
}

interface DiamondProps {
  x: number;
  y: number;
  isBad: boolean;
  later: string;
}

function Diamond({ x, y, isBad, later }: DiamondProps) {
  return html`<g class=${`diamond ${isBad ? 'bad' : 'good'}${later}`}><path d=${`M${x} ${y - 9}l9 9l-9 9l-9 -9Z`} />
    ${!isBad && html`<path class="tick" d=${`M${x - 3.6} ${y}l2.6 3l5 -5.8`} />`}</g>`;
}

type Span = [from: number, to: number];

/** The ranges of scenes in which a condition is true. */
function spansOf(count: number, isSo: (scene: number) => boolean): Span[] {
  const found: Span[] = [];
  for (let scene = 0; scene < count; scene += 1) {
    if (!isSo(scene)) continue;
    const last = found.at(-1);
    if (last?.[1] === scene) last[1] = scene + 1;
    else found.push([scene, scene + 1]);
  }
  return found;
}
