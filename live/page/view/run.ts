// A cell that was played, at one moment: its title, the sentence, the picture and the lanes.

import { html } from 'htm/preact';
import type { SearchSentence } from '../../../prove/wording.ts';
import type { PlayRecord } from '../records.ts';
import { Lanes, type Scale } from './lanes.ts';
import { type LockPlace, Picture } from './picture.ts';
import { lostAt, momentAt } from './reduce.ts';
import { SearchSaid } from './search-said.ts';
import { inChinese } from './sentences.ts';
import { type Both, inLanguage, say, spoken } from './texts.ts';

interface RunProps {
  title: string;
  records: PlayRecord[];
  place: LockPlace;
  scale: Scale;
  at: number;
  /** What the scenario asks, as a sentence: said before its first one. */
  asks?: string | SearchSentence;
}

export function Run({ title, records, place, scale, at, asks = '' }: RunProps) {
  const moment = momentAt(records, at);
  const { line = asks } = moment;
  const lines = new Set([
    asks,
    ...records.map((record) => (record.type === 'sentence' ? (record.search ?? record.line) : '')),
  ]);
  const isOfRush = buyersIn(records) > 0 && !isTold(records);
  return html`<section class="run">
    <h2>${title}</h2>
    <p class="line">${records.length === 0 ? say('opening') : isOfRush ? say('rushLine', { buyers: buyersIn(records) }) : [...lines].map((each) => html`<span class=${each === line ? 'said' : 'said not'}><${Said} text=${each} /></span>`)}</p>
    ${
      records.length > 0 &&
      html`<${Picture} moment=${moment} place=${place} label=${title} />
      <${Lanes} records=${records} scale=${scale} at=${at} place=${place} />`
    }
  </section>`;
}

/** A sentence in the language of the page, where it has it. */
export function Said({ text }: { text: string | SearchSentence }) {
  if (typeof text !== 'string') return html`<${SearchSaid} sentence=${text} />`;
  const chinese = spoken() === 'zh' ? inChinese(text) : undefined;
  return html`<span lang=${text === '' || chinese !== undefined ? undefined : 'en'}>${chinese ?? text}</span>`;
}

/** The reasons of a verdict, a sentence each. */
export const sentencesIn = (reasons: string[]) => reasons.flatMap((each) => each.split(/(?<=\.) (?=[A-Z])/));

interface OutcomeProps {
  records: PlayRecord[];
  isBroken: boolean;
  /** What it means: `{tries}` stands for the most failed tries in a row. */
  meaning: Both;
  children?: unknown;
}

/** What happened to the shop. Of a fault that loses no unit its meaning says more than the stock. */
export function Outcome({ records, isBroken, meaning, children }: OutcomeProps) {
  const end = momentAt(records, Number.POSITIVE_INFINITY);
  const { sold, stock, expected, tries } = end;
  const lost = lostAt(end);
  return html`<p class=${lost > 0 || isBroken ? 'outcome lost' : 'outcome'}>
    ${records.length > 0 && (lost > 0 || !isBroken) && say(lost > 0 ? 'lost' : 'kept', { sold, stock, expected, lost })}${' '}
    ${inLanguage(meaning, { tries })}${children}
  </p>`;
}

/** Where a stage has its lock. */
export const placeOf = (stage: string): LockPlace =>
  stage === '0-none' ? 'none' : stage === '1-in-process' ? 'node' : 'redis';

/** How many have come to a run without sentences. */
const buyersIn = (records: PlayRecord[]) =>
  new Set(records.map((record) => record.type === 'sale' && `${record.node} ${record.sale}`).filter(Boolean)).size;

/** It has sentences. */
export const isTold = (records: PlayRecord[]) => records.some(({ type }) => type === 'sentence');
export const scaleOf = (stops: number[]): Scale => ({ from: stops[0] ?? 0, until: stops.at(-1) ?? 1 });
