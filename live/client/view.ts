// One stack on the page: its picture, its timeline or its figures, its verdict, and what is read beside them.

import { html } from 'htm/preact';
import type { StageChoice } from '../contract.ts';
import { texts } from '../texts/en.ts';
import { FiguresPanel } from './figures.ts';
import { Picture } from './picture.ts';
import type { SeenView } from './state.ts';
import { shown } from './store.ts';
import { Tabs } from './tabs.ts';
import { TimelinePanel } from './timeline-panel.ts';
import { VerdictBanner } from './verdict.ts';

interface ViewProps {
  view: SeenView;
  index: number;
  /** Something else is chosen or asked already. */
  isPast: boolean;
  /** The stage whose code is shown. */
  code: StageChoice | undefined;
}

export function View({ view, index, isPast, code }: ViewProps) {
  const isRush = view.timeline === null && view.figures !== null;
  // A verdict answers no question that is open.
  const isHidden = isPast || shown.value.room?.question?.is === 'open';
  return html`<section class="view" aria-label=${view.title}>
    <div class="stack">
      <h2>${texts.heading(view.title, view.drill, isPast)}</h2>
      <${Picture} view=${view} />
      ${isRush ? html`<${FiguresPanel} figures=${view.figures} />` : html`<${TimelinePanel} view=${view} index=${index} />`}
    </div>
    <div class="aside">
      <${VerdictBanner} verdict=${isHidden ? null : view.verdict} />
      <${Tabs} view=${view} index=${index} choice=${code} />
    </div>
  </section>`;
}
