// What is read beside the picture: the story, the code or the figures.

import { html } from 'htm/preact';
import { useLayoutEffect } from 'preact/hooks';
import type { StageChoice } from '../contract.ts';
import { texts } from '../texts/en.ts';
import { Code } from './code.ts';
import { FiguresPanel } from './figures.ts';
import { FreePanel } from './free-panel.ts';
import { sendOrder } from './order.ts';
import { isForTheRoom, leaveList, PresenterQuestion } from './room.ts';
import { orderFromAnyTab } from './room-keys.ts';
import { canBegin, type SeenView } from './state.ts';
import { choice as chosen, isLookingOn, readingOf, shown, type Tab } from './store.ts';
import { Story } from './story.ts';

const TABS: readonly Tab[] = ['free', 'predict', 'story', 'code', 'figures'];

interface TabsProps {
  view: SeenView;
  index: number;
  /** The stage whose code is shown. */
  choice: StageChoice | undefined;
}

export function Tabs({ view, index, choice }: TabsProps) {
  const { play, room, controls, views } = shown.value;
  // One question stands on the wall, by the last stack: of two stages it is about the later one.
  const isLast = index === views.length - 1;
  const { tab } = readingOf(isLast ? 0 : 1);
  const isMain = isLast && !isLookingOn();
  const isFree = isMain && controls !== null;
  const hasRoom = isMain && !isFree && room !== undefined;
  const newest = canBegin(play) ? undefined : view.story.at(-1);
  // What is drawn listens, and knows what is drawn: a key may come before the browser has shown it.
  useLayoutEffect(() => {
    // On its own tab the question listens itself.
    if (room === undefined || !hasRoom || tab.value === 'predict') return;
    function onKey(event: KeyboardEvent) {
      const order = room !== undefined && isForTheRoom(event) ? orderFromAnyTab(event.key, room, chosen.value) : null;
      if (order === null) return;
      leaveList(event);
      tab.value = 'predict';
      void sendOrder(order);
    }
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  });
  const tabs = TABS.filter((name) => (name !== 'predict' || hasRoom) && (name !== 'free' || isFree));
  const id = (name: Tab) => `${name}-${index}`;
  const choose = (name: Tab) => {
    tab.value = name;
    document.getElementById(`tab-${id(name)}`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? tabs.length - 1 : 0;
    const next = tabs[(tabs.indexOf(tab.value) + step) % tabs.length];
    if (step === 0 || next === undefined) return;
    event.preventDefault();
    choose(next);
  };
  return html`<div class="tabs">
    <div role="tablist" aria-label=${texts.tabs.name} onKeyDown=${onKeyDown}>
      ${tabs.map(
        (name) => html`<button
          role="tab"
          id=${`tab-${id(name)}`}
          aria-controls=${`panel-${index}`}
          aria-selected=${tab.value === name}
          tabindex=${tab.value === name ? 0 : -1}
          onClick=${() => choose(name)}
        >
          ${texts.tabs[name]}
        </button>`,
      )}
    </div>
    <div role="tabpanel" id=${`panel-${index}`} class=${`panel of-${tab.value}`} aria-labelledby=${`tab-${id(tab.value)}`}>
      ${tab.value === 'free' && isFree && html`<${FreePanel} controls=${controls} />`}
      ${tab.value === 'predict' && hasRoom && newest && html`<p class="now" aria-live="polite">${newest.text}</p>`}
      ${tab.value === 'predict' && hasRoom && html`<${PresenterQuestion} room=${room} cell=${chosen.value} send=${sendOrder} />`}
      ${tab.value === 'story' && html`<${Story} view=${view} />`}
      ${tab.value === 'code' && html`<${Code} choice=${choice} />`}
      ${tab.value === 'figures' && html`<${FiguresPanel} figures=${view.figures} />`}
    </div>
  </div>`;
}
