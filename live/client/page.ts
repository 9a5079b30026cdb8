// The whole page: the controls, and under them one stack or two side by side.

import { html } from 'htm/preact';
import { Controls } from './controls.ts';
import { DrillList } from './drill-list.ts';
import { Notices } from './notices.ts';
import { Patterns } from './patterns.ts';
import { choice, readingOf, shown } from './store.ts';
import { View } from './view.ts';

export function Page() {
  const { choices, play, views } = shown.value;
  const chosen = choices.find(({ name }) => name === choice.value.stage);
  const isIdle = play.is === 'ready' || play.is === 'over';
  // Between two drills the presenter reads the code of what comes next.
  const codeOf = (stage: string) =>
    views.length === 1 && isIdle ? chosen : choices.find(({ name }) => name === stage);
  const isReadingCode = views.length === 1 && readingOf(0).tab.value === 'code';
  return html`<${Patterns} />
    <${Controls} />
    <${Notices} />
    <main class=${`views ${views.length > 1 ? 'are-two' : ''} ${isReadingCode ? 'show-code' : ''}`}>
      ${views.map((view, i) => html`<${View} key=${i} view=${view} index=${i} code=${codeOf(view.stage)} />`)}
      ${views.length === 0 && html`<${DrillList} chosen=${chosen} />`}
    </main>`;
}
