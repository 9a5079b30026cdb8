// The timeline of a view as it grows: read event by event or sale by sale.

import { html } from 'htm/preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Timeline } from '../../loadtest/evidence/results.ts';
import { drawTimeline, type Layout, type Measures, measureTimeline } from '../../loadtest/report/timeline.ts';
import type { Sentence } from '../contract.ts';
import { texts as allTexts } from '../texts/en.ts';
import { useWidth } from './measured.ts';
import type { SeenView } from './state.ts';
import { activeView, firstSeen, moveLane, readingOf, shown, timelineIn } from './store.ts';
import { eventsOf, storyOf, type TimelineEvent, waitsIn } from './timeline-events.ts';

const texts = allTexts.timeline;

/** From how many lanes on they are low, where there is room for their names. Side by side they are always. */
const MANY_LANES = 4;

/**
 * The drawing in CSS pixels: so its texts keep their size in every window. A name such as `node-1 · sale 1001` needs its room. What stands
 * beside it has the same scale.
 */
function layoutFor(width: number, seen: SeenTimeline[], place: number): Layout {
  const lanes = Math.max(...seen.map(({ timeline }) => timeline.lanes.length));
  const isLow = (lanes >= MANY_LANES || seen.length > 1) && width > 400;
  const left = isLow ? 160 : width < 540 ? 0 : 198;
  const maxTicks = Math.max(2, Math.floor((width - left) / 80));
  const layout: Layout = { width, left, fontSize: 18, isGrowing: true, isLow, maxTicks };
  const playedMs = seen.map(({ timeline, waits }) => measureTimeline(timeline, { ...layout, waits }).playedMs);
  return { ...layout, waits: seen[place]?.waits ?? [], leastMs: Math.max(...playedMs) };
}

interface SeenTimeline {
  timeline: Timeline;
  waits: ReturnType<typeof waitsIn>;
}

/** The timelines that are seen side by side. */
function seenTimelines(): SeenTimeline[] {
  return shown.value.views.flatMap(({ story }, i) => {
    const timeline = i < firstSeen() ? null : timelineIn(i);
    return timeline === null ? [] : [{ timeline, waits: waitsIn(story, timeline.durationMs) }];
  });
}

export function TimelinePanel({ view, index }: { view: SeenView; index: number }) {
  const { timeline } = view;
  const activate = () => {
    activeView.value = index;
  };
  return html`<section
    class="timeline-panel"
    aria-label=${texts.name(view.title)}
    onPointerEnter=${activate}
    onFocusIn=${activate}
  >
    ${
      timeline === null
        ? html`<p class="empty">${texts.empty}</p>`
        : html`<${ReadTimeline} timeline=${timeline} story=${view.story} title=${texts.title(view.drill, view.title)} index=${index} isOver=${view.verdict !== null} />`
    }
  </section>`;
}

interface ReadTimelineProps {
  timeline: Timeline;
  story: Sentence[];
  title: string;
  index: number;
  isOver: boolean;
}

function ReadTimeline({ timeline, story, title, index, isOver }: ReadTimelineProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const { event, lane } = readingOf(index);
  const seen = seenTimelines();
  const place = seen.findIndex((other) => other.timeline === timeline);
  const layout = useMemo(
    () => layoutFor(width, seen, place),
    [width, story, ...[0, 1].map((other) => seen[other]?.timeline)],
  );
  const markup = useMemo(
    () => (width > 0 ? drawTimeline(title, timeline, layout).markup : ''),
    [timeline, title, layout, width],
  );
  const events = useMemo(() => eventsOf(timeline), [timeline]);
  const measures = measureTimeline(timeline, layout);
  const marked = events.find(({ key }) => key === event.value);
  // The keys were used last: the pointer counts again when it moves.
  useLayoutEffect(() => {
    setHovered(undefined);
    frame.current?.querySelector('.lane-frame')?.scrollIntoView({ block: 'nearest' });
  }, [event.value, lane.value]);
  const told = hovered ?? lane.value;
  const toldLane = told === undefined ? undefined : timeline.lanes[told];
  const isWaiting = story.some(({ waitedUntilMs }) => waitedUntilMs === null);
  const hint = isWaiting ? texts.waiting : texts.keys;
  // At the verdict it is seen as a whole, and the picture gives way.
  useLayoutEffect(() => {
    const stack = isOver ? frame.current?.closest('.stack') : null;
    if (stack) stack.scrollTop = frame.current?.parentElement?.offsetTop ?? 0;
  }, [isOver, markup]);

  return html`<div
      class="timeline-scroll"
      ref=${frame}
      tabindex="0"
      role="group"
      aria-label=${texts.keys}
      onKeyDown=${(pressed: KeyboardEvent) => {
        if (pressed.key !== 'ArrowUp' && pressed.key !== 'ArrowDown') return;
        pressed.preventDefault();
        moveLane(index, pressed.key === 'ArrowDown' ? 1 : -1);
      }}
      onPointerMove=${(moved: PointerEvent) => setHovered(laneAt(moved, measures, timeline.lanes.length))}
      onPointerLeave=${() => setHovered(undefined)}
    >
      <div class="drawing" dangerouslySetInnerHTML=${{ __html: markup }}></div>
      ${width > 0 && overlay(measures, marked, toldLane === undefined ? undefined : told)}
    </div>
    <p class="told-story" aria-live="polite">${sentence(toldLane, marked, hint)}</p>`;
}

/** What lies over the drawing: the marker at an event, the frame around the lane whose story is told. */
function overlay(
  { at, laneHeight, lanesTop, lanesBottom }: Measures,
  marked: TimelineEvent | undefined,
  lane?: number,
) {
  return html`${
    lane !== undefined &&
    html`<div class="lane-frame" style=${{ top: `${lanesTop + lane * laneHeight}px`, height: `${laneHeight}px` }}></div>`
  }
  ${marked && html`<div class="marker" style=${{ left: `${at(marked.atMs)}px`, height: `${lanesBottom}px` }}></div>`}`;
}

function sentence(lane: Timeline['lanes'][number] | undefined, marked: TimelineEvent | undefined, hint: string) {
  if (lane !== undefined) return storyOf(lane);
  if (marked !== undefined) return texts.at(marked.atMs, marked.words);
  return html`<span class="hint">${hint}</span>`;
}

/** The lane under the pointer. */
function laneAt({ clientY, currentTarget }: PointerEvent, { lanesTop, laneHeight }: Measures, count: number) {
  if (!(currentTarget instanceof HTMLElement)) return undefined;
  const y = clientY - currentTarget.getBoundingClientRect().top;
  const lane = Math.floor((y - lanesTop) / laneHeight);
  return lane >= 0 && lane < count ? lane : undefined;
}
