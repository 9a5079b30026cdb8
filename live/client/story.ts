// The story of a drill: its sentences with their times, the newest in view.

import { html } from 'htm/preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { texts } from '../texts/en.ts';
import { scrolledTo } from './scroll.ts';
import type { SeenView } from './state.ts';
import { Witnesses } from './verdict.ts';

export function Story({ view }: { view: SeenView }) {
  const { story, timeline, figures, verdict } = view;
  const isRush = timeline === null && (figures?.sold ?? 0) > 0;
  const frame = useRef<HTMLDivElement>(null);
  useNewestInView(frame, story.length);
  return html`<div class="scroll" ref=${frame} tabindex="0" role="log" aria-label=${texts.story.name}>
    ${
      story.length === 0
        ? html`<p class="empty">${isRush ? texts.story.rush : texts.story.empty}</p>`
        : html`<ol class="story">
        ${story.map(
          ({ atMs, text }, i) =>
            html`<li key=${i} class=${i === story.length - 1 ? 'is-newest' : ''}>
              <span class="moment">${texts.story.moment(atMs)}</span> <span>${text}</span>
            </li>`,
        )}
      </ol>`
    }
    <${Witnesses} verdict=${verdict} />
  </div>`;
}

/** Keeps the newest sentence in view, unless the reader has scrolled back. A story that begins again is followed again. */
function useNewestInView(frame: { current: HTMLDivElement | null }, count: number) {
  const scrolledTop = useRef(0);
  const lastCount = useRef(0);
  useLayoutEffect(() => {
    const scrolled = frame.current;
    const newest = scrolled?.querySelector<HTMLElement>('.is-newest');
    if (scrolled === null || newest == null) return;
    const isNew = count < lastCount.current;
    lastCount.current = count;
    if (!isNew && Math.abs(scrolled.scrollTop - scrolledTop.current) > 2) return;
    const stretch = { from: newest.offsetTop, until: newest.offsetTop + newest.offsetHeight };
    scrolled.scrollTop = scrolledTo({ top: scrolled.scrollTop, height: scrolled.clientHeight }, stretch);
    scrolledTop.current = scrolled.scrollTop;
  });
}
