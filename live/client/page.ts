// The whole page: the controls, and under them one stack or two side by side.

import { html } from 'htm/preact';
import type { Vote } from '../room-contract.ts';
import { texts } from '../texts/en.ts';
import { Controls } from './controls.ts';
import { Notices } from './notices.ts';
import { sendPuzzleOrder, tokenInAddress } from './order.ts';
import { sendVote } from './own-vote.ts';
import { Patterns } from './patterns.ts';
import { PuzzlePanel } from './puzzle.ts';
import { FollowerQuestion } from './room.ts';
import { canBegin } from './state.ts';
import {
  choice,
  firstSeen,
  isAtWorkshop,
  isLookingOn,
  isSaved,
  isScheduling,
  line,
  readingOf,
  shown,
} from './store.ts';
import { View } from './view.ts';
import { WorkshopButton, WorkshopPanel } from './workshop.ts';

/** `top` stands above everything: what a saved run has for its controls. */
export function Page({ top }: { top?: () => unknown }) {
  const { choices, play, room, puzzle, workshop, views } = shown.value;
  if (isScheduling.value && puzzle !== undefined) {
    return html`<${Notices} />
      <main class="scheduler">
        <button
          class="back"
          onClick=${() => {
            isScheduling.value = false;
          }}
        >
          ${texts.controls.stack}
        </button>
        <${PuzzlePanel} view=${puzzle} send=${sendPuzzleOrder} />
      </main>`;
  }
  const chosen = choices.find(({ name }) => name === choice.value.stage);
  const isIdle = canBegin(play);
  const first = firstSeen();
  const isAlone = views.length - first < 2;
  // Between two drills the presenter reads the code of what comes next.
  const codeOf = (stage: string) => (isAlone && isIdle ? chosen : choices.find(({ name }) => name === stage));
  // What is chosen or asked was not played yet: nothing that is shown is its outcome.
  const question = room?.question;
  const next = isLookingOn() ? (question?.is === 'revealed' ? null : question) : choice.value;
  const isPast =
    isIdle &&
    next != null &&
    !views.some(({ stage, drill }) => stage === next.stage && (drill ?? next.drill) === next.drill);
  // What is read takes half of the page, where it is more than a few sentences.
  const isReading = isAlone && ['code', 'predict'].includes(readingOf(0).tab.value);
  return html`<${Patterns} />
    ${top && html`<${top} />`}
    ${!isLookingOn() && html`<${Controls} />`}
    <${Notices} />
    ${
      isLookingOn() &&
      !isSaved.value &&
      html`<header class="follower">
        <h1>${texts.title}</h1>
        <${WorkshopButton} />
        ${room !== undefined && html`<${FollowerQuestion} room=${room} vote=${(vote: Vote) => sendVote(tokenInAddress(), vote)} />`}
      </header>`
    }
    ${
      isAtWorkshop.value && workshop !== null
        ? html`<main class="views is-reading"><${WorkshopPanel} view=${workshop} /></main>`
        : html`<main class=${`views ${isAlone ? '' : 'are-two'} ${isReading ? 'is-reading' : ''}`}>
      ${views.map((view, i) => i >= first && html`<${View} key=${i} view=${view} index=${i} isPast=${isPast} code=${codeOf(view.stage)} />`)}
      ${choices.length === 0 && line.value === 'connecting' && html`<p class="empty">${texts.line.connecting}</p>`}
    </main>`
    }`;
}
