// What can be read off a timeline: the events in their order, and the story of each sale.

import type { Timeline } from '../../loadtest/evidence/results.ts';
import type { Sentence } from '../contract.ts';
import { texts } from '../texts/en.ts';

export interface TimelineEvent {
  /** It stays the same while the timeline grows. */
  key: string;
  atMs: number;
  /** The lane that it concerns, if it is a sale's. */
  lane: number | undefined;
  words: string;
}

type Lane = Timeline['lanes'][number];

/** A lease that was there so shortly before the end may be there still, in milliseconds. */
const LAST_LOOK_MS = 50;

const { events: words } = texts.timeline;

/** All that happens in a timeline, in the order of time. What happens at one moment is in the order of a sale. */
export function eventsOf({ lanes, faults, overlaps, durationMs }: Timeline): TimelineEvent[] {
  const ofFaults = faults.flatMap((fault, i): TimelineEvent[] => {
    const name = texts.timeline.fault(fault);
    const began = { key: `fault ${i}`, atMs: fault.fromMs, lane: undefined, words: words.fault(name) };
    // One that lasts to the very end is not over yet.
    if (fault.untilMs === undefined || fault.untilMs >= durationMs) return [began];
    return [began, { key: `fault over ${i}`, atMs: fault.untilMs, lane: undefined, words: words.faultOver(name) }];
  });
  const ofOverlaps = overlaps.flatMap((overlap): TimelineEvent[] => {
    const [first, second] = overlap.lanes.map((lane) => lanes[lane]);
    if (first === undefined || second === undefined) return [];
    const lane = Math.max(...overlap.lanes);
    const met = words.overlap(first, second);
    return [{ key: `${met} ${overlap.fromMs}`, atMs: overlap.fromMs, lane, words: met }];
  });
  const ofLanes = lanes.flatMap((lane, i) => laneEvents(lane, i, durationMs));
  return [...ofLanes, ...ofOverlaps, ...ofFaults].toSorted((a, b) => a.atMs - b.atMs);
}

function laneEvents(lane: Lane, index: number, durationMs: number): TimelineEvent[] {
  const { askedMs, inside, read, wrote, leases } = lane;
  const event = (kind: string, atMs: number, text: string): TimelineEvent => ({
    key: `${lane.node} ${lane.saleId} ${kind}`,
    atMs,
    lane: index,
    words: text,
  });
  const { leftMs, gaveUpMs } = endOf(lane);
  return [
    event('asked', askedMs, words.asked(lane)),
    ...(inside ? [event('entered', inside.fromMs, words.entered(lane))] : []),
    ...leases.map((lease, i) => event(`lease ${i}`, lease.fromMs, words.leaseBegan(lane))),
    ...(read ? [event('read', read.ms, words.read(lane, read.stock))] : []),
    ...(wrote ? [event('wrote', wrote.ms, words.wrote(lane, wrote.stock))] : []),
    ...(leftMs !== undefined ? [event('left', leftMs, words.left(lane))] : []),
    ...(gaveUpMs !== undefined ? [event('gave up', gaveUpMs, words.gaveUp(lane))] : []),
    ...leases.flatMap((lease, i) =>
      lease.untilMs < durationMs - LAST_LOOK_MS
        ? [event(`lease over ${i}`, lease.untilMs, words.leaseEnded(lane))]
        : [],
    ),
  ];
}

/** How a sale ended: it left, or was done without having entered. Nothing while it goes on, or when its process died. */
function endOf({ inside, endedMs }: Lane): { leftMs?: number; gaveUpMs?: number } {
  if (endedMs === undefined) return {};
  return inside === undefined ? { gaveUpMs: endedMs } : { leftMs: inside.untilMs };
}

/** The event after the one with this key, or before it with `step` −1. Without a key it is the first, or the last. */
export function eventBeside(events: TimelineEvent[], key: string | undefined, step: 1 | -1): TimelineEvent | undefined {
  const place = events.findIndex((event) => event.key === key);
  if (place < 0) return step > 0 ? events[0] : events.at(-1);
  return events[place + step] ?? events[place];
}

/** What became of a sale, in a sentence. */
export function storyOf(lane: Lane): string {
  return texts.timeline.story(lane, endOf(lane));
}

/** The waits for the presenter that are long enough to be drawn narrow, in milliseconds. */
const LONG_WAIT_MS = 500;

/** When a story waited for the presenter. A drill that was played again begins at 0 again: what was before is not in its timeline. */
export function waitsIn(story: Sentence[], durationMs: number): { fromMs: number; untilMs: number }[] {
  const again = story.findLastIndex(({ atMs }, i) => atMs < (story[i - 1]?.atMs ?? 0));
  return story.slice(Math.max(0, again)).flatMap(({ atMs: fromMs, waitedUntilMs }) => {
    const untilMs = Math.min(waitedUntilMs ?? durationMs, durationMs);
    return waitedUntilMs !== undefined && untilMs - fromMs > LONG_WAIT_MS ? [{ fromMs, untilMs }] : [];
  });
}
