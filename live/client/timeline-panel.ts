// The timeline of a view as it grows: frozen when the presenter wants, read event by event or sale by sale.

import { html } from 'htm/preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Timeline } from '../../loadtest/evidence/results.ts';
import { drawTimeline, type Layout, type Measures, measureTimeline } from '../../loadtest/report/timeline.ts';
import type { Sentence } from '../contract.ts';
import { texts as allTexts } from '../texts/en.ts';
import { useWidth } from './measured.ts';
import { scrolledTo } from './scroll.ts';
import type { SeenView } from './state.ts';
import { activeView, moveLane, readingOf } from './store.ts';
import { eventsOf, storyOf, type TimelineEvent, waitsIn } from './timeline-events.ts';

const texts = allTexts.timeline;

/** From how many lanes on they are low, where there is room for their names. */
const MANY_LANES = 5;

/** The drawing in CSS pixels: so its texts keep their size in every window. A name such as `node-1 · sale 1001` needs its room. */
function layoutFor(width: number, lanes: number, waits: Layout['waits']): Layout {
  const isLow = lanes >= MANY_LANES && width > 400;
  const left = isLow ? 160 : width < 540 ? 0 : 198;
  const maxTicks = Math.max(2, Math.floor((width - left) / 80));
  return { name: 'wide', width, left, fontSize: 18, isGrowing: true, isLow, waits, maxTicks };
}

export function TimelinePanel({ view, index }: { view: SeenView; index: number }) {
  const reading = readingOf(index);
  const timeline = reading.frozen.value ?? view.timeline;
  const isFrozen = reading.frozen.value !== null;
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
        : html`<${ReadTimeline} timeline=${timeline} story=${view.story} title=${texts.title(view.drill, view.title)} index=${index} />`
    }
    ${
      timeline !== null &&
      (isFrozen || view.verdict === null) &&
      html`<button
        class="freeze"
        aria-pressed=${isFrozen}
        onClick=${(event: MouseEvent) => {
          reading.frozen.value = isFrozen ? null : view.timeline;
          // A presenter with a mouse goes on with the space bar, which a button would take.
          if (event.detail > 0 && event.currentTarget instanceof HTMLElement) event.currentTarget.blur();
        }}
      >
        ${isFrozen ? texts.follow : texts.freeze}
      </button>`
    }
  </section>`;
}

interface ReadTimelineProps {
  timeline: Timeline;
  story: Sentence[];
  title: string;
  index: number;
}

function ReadTimeline({ timeline, story, title, index }: ReadTimelineProps) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const { event, lane, frozen } = readingOf(index);
  const layout = useMemo(
    () => layoutFor(width, timeline.lanes.length, waitsIn(story, timeline.durationMs)),
    [width, timeline, story],
  );
  const markup = useMemo(
    () => (width > 0 ? drawTimeline(title, timeline, undefined, [layout]).markup : ''),
    [timeline, title, layout, width],
  );
  const events = useMemo(() => eventsOf(timeline), [timeline]);
  const measures = measureTimeline(timeline, layout);
  const marked = events.find(({ key }) => key === event.value);
  // The keys were used last: the pointer counts again when it moves.
  useLayoutEffect(() => setHovered(undefined), [event.value, lane.value]);
  const told = hovered ?? lane.value;
  const toldLane = told === undefined ? undefined : timeline.lanes[told];
  const isWaiting = story.at(-1)?.waitedUntilMs === null;
  const hint = frozen.value !== null ? texts.frozen : isWaiting ? texts.waiting : texts.keys;
  const chosenLane = lane.value ?? marked?.lane;
  useShownLane(frame, measures, {
    lane: chosenLane ?? events.findLast((event) => event.lane !== undefined)?.lane,
    isChosen: chosenLane !== undefined,
    isFrozen: frozen.value !== null,
    isDrawn: width > 0,
  });

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
  const y = clientY - currentTarget.getBoundingClientRect().top + currentTarget.scrollTop;
  const lane = Math.floor((y - lanesTop) / laneHeight);
  return lane >= 0 && lane < count ? lane : undefined;
}

interface ShownLane {
  lane: number | undefined;
  /** By the presenter. */
  isChosen: boolean;
  isFrozen: boolean;
  isDrawn: boolean;
}

/**
 * Scrolls a lane into view. One that the presenter has chosen always; one that is only the newest not after the presenter has
 * scrolled by hand, until the drawing is followed again.
 */
function useShownLane(
  frame: { current: HTMLDivElement | null },
  { lanesTop, laneHeight, height }: Measures,
  { lane, isChosen, isFrozen, isDrawn }: ShownLane,
) {
  const scrolledTop = useRef(0);
  useLayoutEffect(() => {
    if (frame.current !== null) scrolledTop.current = frame.current.scrollTop;
  }, [frame, isFrozen]);
  useLayoutEffect(() => {
    const scrolled = frame.current;
    if (scrolled === null || lane === undefined || !isDrawn) return;
    const isByHand = Math.abs(scrolled.scrollTop - scrolledTop.current) > 2;
    if (!isChosen && (isByHand || isFrozen)) return;
    // The first lane is seen with the faults above it.
    const from = lane === 0 ? 0 : lanesTop + lane * laneHeight;
    const until = lanesTop + (lane + 1) * laneHeight;
    // The axis stays in view below.
    const height = scrolled.clientHeight - (scrolled.querySelector<HTMLElement>('.foot')?.offsetHeight ?? 0);
    scrolled.scrollTop = scrolledTo({ top: scrolled.scrollTop, height }, { from, until });
    scrolledTop.current = scrolled.scrollTop;
  }, [frame, lane, isChosen, isFrozen, isDrawn, lanesTop, laneHeight, height]);
}
