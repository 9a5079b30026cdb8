// A cell that was played, at one moment: its title, the sentence, the picture and the lanes.

import { html } from 'htm/preact';
import type { PlayRecord } from '../records.ts';
import { Lanes, type Scale } from './lanes.ts';
import { type LockPlace, Picture } from './picture.ts';
import { momentAt } from './reduce.ts';
import { inChinese } from './sentences.ts';
import { say, spoken } from './texts.ts';

interface RunProps {
  title: string;
  records: PlayRecord[];
  place: LockPlace;
  scale: Scale;
  at: number;
}

export function Run({ title, records, place, scale, at }: RunProps) {
  const moment = momentAt(records, at);
  const line = isTold(records) || records.length === 0 ? moment.line : say('rushLine', { buyers: buyersIn(records) });
  const chinese = line && spoken() === 'zh' ? inChinese(line) : undefined;
  return html`<section class="run">
    <h2>${title}</h2>
    <p class="line" lang=${isTold(records) && chinese === undefined ? 'en' : undefined}>${chinese ?? line}</p>
    <${Picture} moment=${moment} place=${place} label=${title} />
    <${Lanes} records=${records} scale=${scale} at=${at} place=${place} />
  </section>`;
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
