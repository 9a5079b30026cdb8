// One stack on the page: its picture, its timeline or its figures, its verdict, and what is read beside them.

import { html } from 'htm/preact';
import type { StageChoice } from '../contract.ts';
import { texts } from '../texts/en.ts';
import { FiguresPanel } from './figures.ts';
import { Picture } from './picture.ts';
import { canBegin, type SeenView } from './state.ts';
import { isLookingOn, shown } from './store.ts';
import { Tabs } from './tabs.ts';
import { TimelinePanel } from './timeline-panel.ts';
import { VerdictBanner } from './verdict.ts';

interface ViewProps {
  view: SeenView;
  index: number;
  /** The stage whose code is shown. */
  code: StageChoice | undefined;
}

export function View({ view, index, code }: ViewProps) {
  const isRush = view.timeline === null && view.figures !== null;
  // Another stage is chosen already, and nothing of it was played yet.
  const isNext = !isLookingOn() && canBegin(shown.value.play) && code?.name !== view.stage;
  return html`<section class="view" aria-label=${view.title}>
    <div class="stack">
      <h2>${isNext ? texts.stillShown(view.title) : view.title}</h2>
      <${Picture} view=${view} />
      ${isRush ? html`<${FiguresPanel} figures=${view.figures} />` : html`<${TimelinePanel} view=${view} index=${index} />`}
    </div>
    <div class="aside">
      <${VerdictBanner} verdict=${view.verdict} />
      <${Tabs} view=${view} index=${index} choice=${code} />
    </div>
  </section>`;
}
