// A run on its scale of time: a lane for each sale that a sentence speaks of, and one for the lock; of a rush, its stock.

import { html } from 'htm/preact';
import type { LockPlace } from './picture.ts';
import { type AnyEvent, lanesOf, lostAt, momentAt, type Span } from './reduce.ts';
import { say } from './texts.ts';

export interface Scale {
  from: number;
  until: number;
}

export function Lanes({
  events,
  scale,
  at,
  place,
}: {
  events: AnyEvent[];
  scale: Scale;
  at: number;
  place: LockPlace;
}) {
  const until = events.at(-1)?.at ?? scale.until;
  const { lanes, lock } = lanesOf(events, until);
  const share = (time: number) => ((Math.min(time, at) - scale.from) / (scale.until - scale.from)) * 100;
  const bar = (kind: string) => (span: Span) =>
    span.from <= at &&
    html`<i class=${kind} style=${{ left: `${share(span.from)}%`, width: `${Math.max(0.6, share(span.until) - share(span.from))}%` }} />`;
  const row = (name: string, bars: unknown) => html`<span>${name}</span><div class="lane">${bars}</div>`;
  return html`<div class="lanes" aria-hidden="true">
    ${lanes.map(({ sale, node, waits, inside }) => row(`${sale} ${node}`, [...waits.map(bar('waits')), ...inside.map(bar('held'))]))}
    ${lanes.length > 0 && place === 'redis' && row(say('lock'), lock.map(bar('key')))}
    ${lanes.length === 0 && html`<span>${say('stock')}</span><${Stock} events=${events} scale=${scale} at=${at} />`}
    <span /><div class="lane now"><i style=${{ left: `${share(at)}%` }} /></div>
  </div>`;
}

const POINTS = 60;

/** The stock as it is, and as it should be. */
function Stock({ events, scale, at }: { events: AnyEvent[]; scale: Scale; at: number }) {
  const first = momentAt(events, scale.from).stock;
  const end = momentAt(events, scale.until);
  const lowest = Math.min(end.stock, end.expected);
  const times = Array.from(
    { length: POINTS + 1 },
    (_, point) => scale.from + ((scale.until - scale.from) * point) / POINTS,
  );
  const moments = times.filter((time) => time <= at).map((time) => momentAt(events, time));
  const line = (heightOf: (moment: (typeof moments)[number]) => number) =>
    moments
      .map(
        (moment, point) => `${(point * 100) / POINTS},${((first - heightOf(moment)) / (first - lowest || 1)) * 40 + 2}`,
      )
      .join(' ');
  const last = moments.at(-1);
  return html`<svg class="curve" viewBox="0 0 100 44" preserveAspectRatio="none">
    <polyline class="should" points=${line(({ expected }) => expected)} />
    <polyline class=${last && lostAt(last) > 0 ? 'is lost' : 'is'} points=${line(({ stock }) => stock)} />
  </svg>`;
}
