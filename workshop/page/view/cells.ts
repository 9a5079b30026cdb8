// The lesson's runs in the lab: started when first shown, then cached.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { DrillSettings } from '../../../loadtest/harness/drill.ts';
import { beatsOf, type Place } from '../../picture/beats.ts';
import { type Rush, rushOf } from '../../picture/rush.ts';
import type { Shown } from '../../picture/shown.ts';
import type { AnyEvent } from '../../picture/trips.ts';
import { turningOf, type Wanted } from '../../picture/turning.ts';
import type { Played } from '../worker.ts';
import type { Engine } from './engine.ts';

/** A cell of the lesson: a page under a stage, or a load. */
export interface LessonCell {
  stage: string;
  /** The scenario file as text; a load has none. */
  page?: string;
  drill: string;
  settings?: Partial<DrillSettings>;
  /** What its ◆ is about. */
  wanted: Wanted;
}

export type Found = { shown: Shown } | { rush: Rush };

/** True if a unit was sold to more than one buyer. */
export const isSoldTwice = ({ sales }: Rush) => new Set(sales.map(({ unit }) => unit)).size < sales.length;

/** Where a stage keeps its lock. */
export const placeOf = (stage: string): Place =>
  stage === '0-none' ? 'none' : stage === '1-in-process' ? 'node' : 'redis';

/** A run, as far as it is shown. */
interface Seen {
  record: Partial<Played['record']> & Pick<Played['record'], 'verdict'>;
  events: AnyEvent[];
}

/** What is shown of a played cell. */
export function shownOf(
  { stage, wanted }: Omit<LessonCell, 'drill'>,
  { record: { verdict, reasons = [] }, events }: Seen,
  place = placeOf(stage),
): Shown {
  const beats = beatsOf(events, place);
  const whyNot = verdict === 'unknown' || verdict === 'not-applicable' ? reasons.join(' ') : undefined;
  return { stage, beats, verdict, turning: turningOf(beats, { verdict, ...wanted }), whyNot };
}

const nameOf = ({ stage, page, drill }: LessonCell) => `${stage} ${page ?? drill}`;

/** How long the lab waits for a dragged knob to rest, in milliseconds. */
const REST_MS = 80;

/** Plays a cell. `onFound` is called with intermediate results. */
export type Play = (cell: LessonCell, onFound: (found: Found) => void) => Promise<Found>;

/** Plays these cells one by one, unless they were already played under this name. Returns the results so far. */
export function useCells(name: string, play: Play, cells: LessonCell[]): (Found | undefined)[] {
  const kept = useRef(new Map<string, Found | 'asked'>());
  const [, draw] = useState(0);
  const keyOf = (cell: LessonCell) => `${name} ${nameOf(cell)}`;
  useEffect(() => {
    const timer = setTimeout(() => {
      for (const cell of cells) {
        const key = keyOf(cell);
        if (kept.current.has(key)) continue;
        kept.current.set(key, 'asked');
        const see = (found: Found) => {
          kept.current.set(key, found);
          draw((count) => count + 1);
        };
        play(cell, see).then(see, () => void kept.current.delete(key));
      }
    }, REST_MS);
    return () => clearTimeout(timer);
  }, [cells.map(keyOf).join('|')]);
  return cells.map((cell) => {
    const found = kept.current.get(keyOf(cell));
    return found === 'asked' ? undefined : found;
  });
}

/** Plays cells in the lab. */
export const inLab =
  (engine: Engine): Play =>
  async ({ stage, drill, page, settings, wanted }) => {
    const asked = { stage, drill, isShown: true, ...(page !== undefined && { page }), ...(settings && { settings }) };
    // What can't be played is no reason to stop: one turns the knob back.
    const played = await engine.ask('play', asked).catch((error: Error): Seen => {
      return { record: { verdict: 'unknown', reasons: [error.message] }, events: [] };
    });
    return page === undefined ? { rush: rushOf(played.events) } : { shown: shownOf({ stage, wanted }, played) };
  };
