// A prediction as it is shown: on the wall with its bars and buttons, and on a phone with answers to touch.

import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import type { AnswerView, QuestionView, RoomOrder, RoomView, Vote } from '../room-contract.ts';
import { texts } from '../texts/en.ts';
import { follower } from './own-vote.ts';
import { pageValue } from './page-value.ts';
import { askableUnder, type ChosenCell, isAskable, orderOfKey, roomKeys } from './room-keys.ts';
import type { SeenView } from './state.ts';
import { shown } from './store.ts';

export interface PresenterQuestionProps {
  room: RoomView;
  cell: ChosenCell | null;
  send: (order: RoomOrder) => void;
}

/** Whether the wall shows the bars while votes are taken. A room that sees them follows the crowd, so the presenter has to ask for it. */
const isCountShown = pageValue(false);
/** Why the last vote of this phone was not taken, and for which question it was. */
const refusal = pageValue<{ question: number; text: string } | null>(null);

/** The question on the wall, for the one who teaches. */
export function PresenterQuestion({ room, cell, send }: PresenterQuestionProps) {
  const { question } = room;
  // Without a room the presenter predicts alone.
  const hasVotes = room.address !== null || (question?.voted ?? 0) > 0;

  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (!isForTheRoom(event)) return;
      if (event.key === roomKeys.bars) isCountShown.value = !isCountShown.value;
      const order = orderOfKey(event.key, room, cell);
      if (order === null) return;
      leaveList(event);
      send(order);
    }
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  });

  const button = (order: RoomOrder, text: string, key: string) =>
    html`<button aria-keyshortcuts=${key} onClick=${() => send(order)}>${text} <kbd>${key}</kbd></button>`;

  return html`<section class="room" aria-label=${texts.room.heading}>
    ${(question === null || question.is === 'open') && html`<${Address} room=${room} />`}
    ${question !== null && html`<${OnTheWall} question=${question} followers=${room.followers} hasVotes=${hasVotes} send=${send} />`}
    <div class="room-buttons">
      ${isAskable(room, cell) && button({ do: 'ask', ...cell }, texts.room.ask, roomKeys.ask)}
      ${question === null && !isAskable(room, cell) && html`<p>${texts.room.nothingToAsk(askableUnder(room, cell))}</p>`}
      ${hasVotes && question?.is === 'open' && button({ do: 'close-votes' }, texts.room.closeVotes, roomKeys.closeVotes)}
      ${question !== null && question.is !== 'revealed' && button({ do: 'reveal' }, texts.room.reveal, roomKeys.reveal)}
      ${question !== null && button({ do: 'forget' }, texts.room.forget, roomKeys.forget)}
      ${hasVotes && question?.is === 'open' && html`<${BarsButton} />`}
    </div>
  </section>`;
}

function Address({ room: { address, followers } }: { room: RoomView }) {
  if (address === null) return html`<p class="room-address">${texts.room.notShared}</p>`;
  return html`<p class="room-address">${texts.room.followAt} <strong>${address}</strong> ${texts.room.follow(followers)}</p>`;
}

function BarsButton() {
  const text = isCountShown.value ? texts.room.hideBars : texts.room.showBars;
  const turn = () => {
    isCountShown.value = !isCountShown.value;
  };
  return html`<button aria-keyshortcuts=${roomKeys.bars} onClick=${turn}>
    ${text} <kbd>${roomKeys.bars}</kbd>
  </button>`;
}

interface OnTheWallProps {
  question: QuestionView;
  followers: number;
  hasVotes: boolean;
  send: (order: RoomOrder) => void;
}

function OnTheWall({ question, followers, hasVotes, send }: OnTheWallProps) {
  const isOpen = question.is === 'open';
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => list.current?.querySelector('.is-right')?.scrollIntoView({ block: 'nearest' }), [question.is]);
  const isCounted = hasVotes && (!isOpen || isCountShown.value);
  const isTold = ({ stage, drill, verdict }: SeenView) =>
    verdict !== null && stage === question.stage && drill === question.drill;
  const state = isOpen && !hasVotes ? texts.room.predictAlone : texts.room.states[question.is];
  return html`<h2 class="room-question">${question.text}</h2>
    <p class="room-state"><span role="status">${state}</span> ${hasVotes && texts.room.voted(question.voted, followers)}</p>
    <${WhatHappened} question=${question} isTold=${shown.value.views.some(isTold)} />
    <ol class="room-answers" ref=${list}>
      ${question.answers.map(
        (answer, place) => html`<li key=${place} class=${answer.isRight ? 'room-answer is-right' : 'room-answer'}>
          <button
            class="room-number"
            disabled=${!isOpen}
            aria-pressed=${question.prediction === place}
            aria-label=${texts.room.predict(place)}
            aria-keyshortcuts=${place + 1}
            onClick=${() => send({ do: 'predict', answer: place })}
          >
            ${texts.room.letter(place)}
          </button>
          <${AnswerText} answer=${answer} mark=${question.prediction === place ? texts.room.prediction : null} />
          ${isCounted && html`<${Bar} answer=${answer} place=${place} voted=${question.voted} />`}
        </li>`,
      )}
    </ol>`;
}

/** The question on a phone. It says what the phone has said, and after the answer is shown, what happened. */
export function FollowerQuestion({ room, vote }: { room: RoomView; vote: (vote: Vote) => Promise<string | null> }) {
  const { question } = room;
  if (question === null) {
    return html`<section class="room is-phone" aria-label=${texts.room.heading}><h1>${texts.room.followerWaits}</h1></section>`;
  }
  const { number, is, answers, voted } = question;
  const own = follower.value?.vote;
  const said = own?.question === number ? own.answer : null;

  async function say(answer: number) {
    refusal.value = null;
    const text = await vote({ question: number, answer });
    if (text !== null) refusal.value = { question: number, text };
  }

  return html`<section class="room is-phone" aria-labelledby="room-question">
    <h1 id="room-question" class="room-question">${question.text}</h1>
    <p class="room-state" role="status">${phoneText(question, said)}</p>
    <${WhatHappened} question=${question} />
    <ol class="room-answers">
      ${answers.map(
        (answer, place) => html`<li key=${place} class=${answer.isRight ? 'room-answer is-right' : 'room-answer'}>
          <button
            class="room-choice"
            disabled=${is !== 'open'}
            aria-pressed=${said === place}
            onClick=${() => say(place)}
          >
            <b>${texts.room.letter(place)}</b>
            <${AnswerText} answer=${answer} mark=${said === place ? texts.room.chosen : null} />
          </button>
          <${Bar} answer=${answer} place=${place} voted=${voted} />
        </li>`,
      )}
    </ol>
    ${refusal.value?.question === number && html`<p class="room-refusal" role="alert">${refusal.value.text}</p>`}
  </section>`;
}

function phoneText({ is, answers }: QuestionView, said: number | null): string {
  if (is === 'open') return texts.room.chooseOne;
  if (is === 'closed') return texts.room.states.closed;
  if (said === null) return texts.room.saidNothing;
  return answers[said]?.isRight ? texts.room.wasRight : texts.room.wasWrong;
}

/** The right answer has a sign and a word, not a colour alone. */
function AnswerText({ answer: { text, isRight, because }, mark }: { answer: AnswerView; mark: string | null }) {
  return html`<span class="room-text">
    ${isRight && html`<strong class="room-mark">✔ ${texts.room.right}</strong>`}
    <span>${text}</span>
    ${mark !== null && html`<em class="room-mark">${mark}</em>`}
    ${because !== null && html`<small>${because}</small>`}
  </span>`;
}

function Bar({ answer: { votes }, place, voted }: { answer: AnswerView; place: number; voted: number }) {
  if (votes === null) return null;
  return html`<span class="room-bar">
    <progress max=${Math.max(1, voted)} value=${votes} aria-label=${texts.room.answer(place, votes, voted)}></progress>
    <span aria-hidden="true">${texts.room.votes(votes)}</span>
  </span>`;
}

/** `isTold`: how the drill came out stands on this page already. */
function WhatHappened({ question: { outcome }, isTold }: { question: QuestionView; isTold?: boolean }) {
  if (outcome === null) return null;
  const { expected, explains, happened } = outcome;
  return html`<div class="room-outcome">
    ${happened === null && html`<p>${texts.room.notPlayedYet}</p>`}
    ${happened !== null && !isTold && html`<p>${texts.room.happened(happened.verdict, happened.sentence)}</p>`}
    ${happened !== null && happened.verdict !== expected && html`<p>${texts.room.otherwise}</p>`}
    <p>${explains}</p>
  </div>`;
}

/** Whether a key was meant for the room. A list of drills looks for the letter that is typed; no drill begins with that of the question. */
export function isForTheRoom(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return false;
  const isInList = event.target instanceof HTMLSelectElement;
  return (isInList && event.key === roomKeys.ask) || !isTyping(event.target);
}

/** The next key is one of the room, and no letter of the list that was chosen from. */
export function leaveList({ target }: Event) {
  if (target instanceof HTMLSelectElement) target.blur();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName))
  );
}
