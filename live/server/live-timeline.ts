// The timeline of a drill while it goes on: drawn anew now and then, of what is seen so far.

import { keyOf } from '../../loadtest/evidence/history.ts';
import type { Timeline } from '../../loadtest/evidence/results.ts';
import { timelineOf } from '../../loadtest/evidence/timeline.ts';
import { sharedClock } from '../../loadtest/harness/clock.ts';
import type { SaleEvent } from '../../loadtest/harness/lab-client.ts';
import type { Observed } from '../../loadtest/harness/observed.ts';

/** How often it is drawn at most, in milliseconds. */
const DRAW_MS = 200;
/** How long the last events of a drill may take to arrive after its end, in milliseconds. */
const LATE_MS = 1_000;
/** Of the time of this process it takes a twentieth at most: the harness works in it, too. */
const LEAST_REST = 20;

export interface LiveTimeline {
  /** A drill has begun; what was drawn of another is forgotten. */
  begin(seen: Observed): void;
  /** Draws it, if that is due and there is something to draw. */
  look(): void;
  /** What it came to in the end, which is not drawn any more. */
  end(timeline: Timeline): void;
  read(): Timeline | null;
  /** How many writes another sale had undone when it was drawn last. */
  undone(): number;
}

/** `eventsOf` has the events of all nodes, in whatever order. Which holders may meet is known at the end alone: until then, none. */
export function createLiveTimeline(eventsOf: () => SaleEvent[]): LiveTimeline {
  let seen: Observed | undefined;
  let timeline: Timeline | null = null;
  let undone = 0;
  let nextAt = 0;

  function draw({ startedAt, endedAt, faults, deaths, samples, ownerOf }: Observed) {
    const until = endedAt() ?? sharedClock();
    const events = eventsOf()
      .filter(({ at }) => at >= startedAt && at <= until)
      .sort((a, b) => a.at - b.at);
    undone = undoneIn(events);
    timeline = timelineOf({
      from: startedAt,
      until,
      events,
      deaths: deaths(),
      samples: [...samples()],
      ownerOf,
      faults: [...faults],
      isGrowing: endedAt() === undefined,
    });
  }

  return {
    begin(begun) {
      seen = begun;
      timeline = null;
      undone = 0;
      nextAt = 0;
    },
    look() {
      const startedAt = performance.now();
      if (seen === undefined || startedAt < nextAt) return;
      draw(seen);
      if (sharedClock() > (seen.endedAt() ?? Number.POSITIVE_INFINITY) + LATE_MS) seen = undefined;
      const tookMs = performance.now() - startedAt;
      nextAt = startedAt + Math.max(DRAW_MS, LEAST_REST * tookMs);
    },
    end(final) {
      seen = undefined;
      timeline = final;
    },
    read: () => timeline,
    undone: () => undone,
  };
}

/** Of the sales that read the same stock and wrote, all but one were undone. Of a sale that began again the last reading counts. */
export function undoneIn(events: SaleEvent[]): number {
  const reading = new Map<string, string>();
  const written = new Set<string>();
  let undone = 0;
  for (const event of events) {
    const { type, stock, bucket } = event;
    if (type === 'read') reading.set(keyOf(event), `${stock} ${bucket}`);
    const read = type === 'wrote' ? reading.get(keyOf(event)) : undefined;
    if (read === undefined) continue;
    if (written.has(read)) undone += 1;
    written.add(read);
  }
  return undone;
}
