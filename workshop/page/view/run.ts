// A cell that was played, at one moment: its title, the sentence, the picture and the lanes.

import { html } from 'htm/preact';
import type { AnySentence, PlayEvent } from '../../../simulation/events.ts';
import { Lanes, type Scale } from './lanes.ts';
import { type LockPlace, Picture } from './picture.ts';
import { type AnyEvent, isTold, lostAt, momentAt } from './reduce.ts';
import { type Both, inLanguage, say } from './texts.ts';

interface RunProps<Told> {
  title: string;
  events: PlayEvent<Told, unknown>[];
  /** How a sentence of it reads. */
  said: (sentence: Told) => string;
  place: LockPlace;
  scale: Scale;
  at: number;
  /** What the scenario asks, as a sentence: said before its first one. */
  asks?: string;
}

export function Run<Told extends AnySentence>({ title, events, said, place, scale, at, asks = '' }: RunProps<Told>) {
  const moment = momentAt(events, at);
  const now = moment.said === undefined ? asks : said(moment.said);
  // Each has its place already, so that nothing moves when it is said.
  const all = new Set([asks, ...events.flatMap((event) => (event.kind === 'sentence' ? said(event.sentence) : []))]);
  const isOfRush = buyersIn(events) > 0 && !isTold(events);
  return html`<section class="run">
    <h2>${title}</h2>
    <p class="line">${events.length === 0 ? say('opening') : isOfRush ? say('rushLine', { buyers: buyersIn(events) }) : [...all].map((each) => html`<span class=${each === now ? 'said' : 'said not'}>${each}</span>`)}</p>
    ${
      events.length > 0 &&
      html`<${Picture} moment=${moment} place=${place} label=${title} />
      <${Lanes} events=${events} scale=${scale} at=${at} place=${place} />`
    }
  </section>`;
}

interface OutcomeProps {
  events: AnyEvent[];
  isBroken: boolean;
  /** What it means: `{tries}` stands for the most failed tries in a row. */
  meaning?: Both;
  children?: unknown;
}

/** What happened to the shop. Of a fault that loses no unit its meaning says more than the stock. */
export function Outcome({ events, isBroken, meaning, children }: OutcomeProps) {
  const end = momentAt(events, Number.POSITIVE_INFINITY);
  const { sold, stock, expected, tries } = end;
  const lost = lostAt(end);
  return html`<p class=${lost > 0 || isBroken ? 'outcome lost' : 'outcome'}>
    ${events.length > 0 && (lost > 0 || !isBroken) && say(lost > 0 ? 'lost' : 'kept', { sold, stock, expected, lost })}${' '}
    ${meaning && inLanguage(meaning, { tries })}${children}
  </p>`;
}

/** Where a stage has its lock. */
export const placeOf = (stage: string): LockPlace =>
  stage === '0-none' ? 'none' : stage === '1-in-process' ? 'node' : 'redis';

/** How many have come to a run without sentences. */
const buyersIn = (events: AnyEvent[]) =>
  new Set(events.map((event) => event.kind === 'sale' && `${event.node} ${event.sale}`).filter(Boolean)).size;

export const scaleOf = (stops: number[]): Scale => ({ from: stops[0] ?? 0, until: stops.at(-1) ?? 1 });
