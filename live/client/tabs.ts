// What is read beside the picture: the story, the code or the figures.

import { html } from 'htm/preact';
import type { StageChoice } from '../contract.ts';
import { texts } from '../texts.ts';
import { Code } from './code.ts';
import { FiguresPanel } from './figures.ts';
import type { SeenView } from './state.ts';
import { readingOf, type Tab } from './store.ts';
import { Story } from './story.ts';

const TABS: readonly Tab[] = ['story', 'code', 'figures'];

interface TabsProps {
  view: SeenView;
  index: number;
  /** The stage whose code is shown. */
  choice: StageChoice | undefined;
}

export function Tabs({ view, index, choice }: TabsProps) {
  const { tab } = readingOf(index);
  const id = (name: Tab) => `${name}-${index}`;
  const choose = (name: Tab) => {
    tab.value = name;
    document.getElementById(`tab-${id(name)}`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? TABS.length - 1 : 0;
    const next = TABS[(TABS.indexOf(tab.value) + step) % TABS.length];
    if (step === 0 || next === undefined) return;
    event.preventDefault();
    choose(next);
  };
  return html`<div class="tabs">
    <div role="tablist" aria-label=${texts.tabs.name} onKeyDown=${onKeyDown}>
      ${TABS.map(
        (name) => html`<button
          type="button"
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
      ${tab.value === 'story' && html`<${Story} view=${view} />`}
      ${tab.value === 'code' && html`<${Code} choice=${choice} />`}
      ${tab.value === 'figures' && html`<${FiguresPanel} figures=${view.figures} />`}
    </div>
  </div>`;
}
