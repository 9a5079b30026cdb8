// A prediction as it is shown: on the wall with its bars and buttons, and on a phone with answers to touch.

import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { AnswerView, QuestionView, RoomOrder, RoomView, Vote } from '../room-contract.ts';
import { texts } from '../texts/en.ts';
import { tokenInAddress } from './order.ts';
import { follower } from './own-vote.ts';
import { pageValue } from './page-value.ts';
import { askableUnder, type ChosenCell, isAskable, orderOfKey, roomKeys } from './room-keys.ts';
import { canBegin, type SeenView } from './state.ts';
import { shown } from './store.ts';

export interface PresenterQuestionProps {
  room: RoomView;
  cell: ChosenCell | null;
  send: (order: RoomOrder) => void;
}

const words = texts.room;

/** Whether the wall shows the bars while votes are taken. A room that sees them follows the crowd, so the presenter has to ask for it. */
const isCountShown = pageValue(false);
/** Why the last vote of this phone was not taken, and for which question it was. */
const refusal = pageValue<{ question: number; text: string } | null>(null);

/** The question on the wall, for the one who teaches. */
export function PresenterQuestion({ room, cell, send }: PresenterQuestionProps) {
  const { question } = room;
  // Without a room the presenter predicts alone.
  const hasVotes = room.address !== null || (question?.voted ?? 0) > 0;

  // What is drawn listens, and knows what is drawn: a key may come before the browser has shown it.
  useLayoutEffect(() => {
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

  return html`<section class="room" aria-label=${words.heading}>
    ${(question === null || question.is === 'open') && html`<${Address} room=${room} />`}
    ${question !== null && html`<${OnTheWall} question=${question} followers=${room.followers} hasVotes=${hasVotes} send=${send} />`}
    <div class="room-buttons">
      ${isAskable(room, cell) && button({ do: 'ask', ...cell }, words.ask, roomKeys.ask)}
      ${question === null && !isAskable(room, cell) && html`<p>${words.nothingToAsk(askableUnder(room, cell))}</p>`}
      ${hasVotes && question?.is === 'open' && button({ do: 'close-votes' }, words.closeVotes, roomKeys.closeVotes)}
      ${question !== null && question.is !== 'revealed' && button({ do: 'reveal' }, words.reveal, roomKeys.reveal)}
      ${question !== null && button({ do: 'forget' }, words.forget, roomKeys.forget)}
      ${hasVotes && question?.is === 'open' && html`<${BarsButton} />`}
    </div>
  </section>`;
}

function Address({ room: { address, followers } }: { room: RoomView }) {
  if (address === null) return html`<p class="room-address">${words.notShared}</p>`;
  return html`<div class="room-address">
    <img class="room-code" src=${`/room.svg?token=${tokenInAddress()}`} alt="" />
    ${words.followAt} <strong>${address}</strong> ${words.follow(followers)}
  </div>`;
}

function BarsButton() {
  const text = isCountShown.value ? words.hideBars : words.showBars;
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
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.scrollIntoView({ block: 'nearest' }), [question.is]);
  const isCounted = hasVotes && (!isOpen || isCountShown.value);
  const isTold = ({ stage, drill, verdict }: SeenView) =>
    verdict !== null && stage === question.stage && drill === question.drill;
  const state = isOpen && !hasVotes ? words.predictAlone : words.states[question.is];
  return html`<h2 class="room-question" ref=${heading}>${question.text}</h2>
    <p class="room-state"><span role="status">${state}</span> ${hasVotes && words.voted(question.voted, followers)}</p>
    <${WhatHappened} question=${question} isTold=${shown.value.views.some(isTold)} />
    <ol class="room-answers">
      ${question.answers.map(
        (answer, place) => html`<li key=${place} class=${answer.isRight ? 'room-answer is-right' : 'room-answer'}>
          <button
            class="room-number"
            disabled=${!isOpen}
            aria-pressed=${question.prediction === place}
            aria-label=${words.predict(place)}
            aria-keyshortcuts=${place + 1}
            onClick=${() => send({ do: 'predict', answer: place })}
          >
            ${words.letter(place)}
          </button>
          <${AnswerText} answer=${answer} mark=${question.prediction === place ? words.prediction : null} />
          ${isCounted && html`<${Bar} answer=${answer} place=${place} voted=${question.voted} />`}
        </li>`,
      )}
    </ol>`;
}

/** The question on a phone. It says what the phone has said, and after the answer is shown, what happened. */
export function FollowerQuestion({ room, vote }: { room: RoomView; vote: (vote: Vote) => Promise<string | null> }) {
  const { question } = room;
  if (question === null) {
    return html`<section class="room is-phone" aria-label=${words.heading}><h1>${words.followerWaits}</h1></section>`;
  }
  const { number, is, answers, voted } = question;
  const own = follower.value?.vote;
  const said = own?.question === number ? own.answer : null;

  async function say(answer: number) {
    refusal.value = null;
    const text = await vote({ question: number, answer });
    if (text !== null) refusal.value = { question: number, text };
  }

  // What is played is there to be seen: of a question that is closed its state is left.
  const isFolded = is !== 'open' && !canBegin(shown.value.play);
  const state = html`<p role="status">${phoneText(question, said)}</p>
    ${is === 'closed' && html`<p>${saidText(said)}</p>`}`;
  if (isFolded) return html`<section class="room is-phone" aria-label=${words.heading}>${state}</section>`;
  return html`<section class="room is-phone" aria-labelledby="room-question">
    <h1 id="room-question" class="room-question">${question.text}</h1>
    ${state}
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
            <b>${words.letter(place)}</b>
            <${AnswerText} answer=${answer} mark=${said === place ? words.chosen : null} />
          </button>
          <${Bar} answer=${answer} place=${place} voted=${voted} />
        </li>`,
      )}
    </ol>
    ${refusal.value?.question === number && html`<p role="alert"><b>${refusal.value.text}</b></p>`}
  </section>`;
}

function phoneText({ is, answers }: QuestionView, said: number | null): string {
  if (is === 'open') return words.chooseOne;
  if (is === 'closed') return words.states.closed;
  const right = answers.findIndex(({ isRight }) => isRight);
  return said === right ? words.wasRight : `${saidText(said)} ${words.isRight(words.letter(right))}`;
}

const saidText = (said: number | null) => (said === null ? words.saidNothing : words.said(words.letter(said)));

/** The right answer has a sign and a word, not a colour alone. */
function AnswerText({ answer: { text, isRight, because }, mark }: { answer: AnswerView; mark: string | null }) {
  return html`<span class="room-text">
    ${isRight && html`<b>✔ ${words.right}</b>`}
    <span>${text}</span>
    ${mark !== null && html`<em>${mark}</em>`}
    ${because !== null && html`<small>${because}</small>`}
  </span>`;
}

function Bar({ answer: { votes }, place, voted }: { answer: AnswerView; place: number; voted: number }) {
  if (votes === null) return null;
  return html`<span class="room-bar">
    <progress max=${Math.max(1, voted)} value=${votes} aria-label=${words.answer(place, votes, voted)}></progress>
    <span aria-hidden="true">${words.votes(votes)}</span>
  </span>`;
}

/** `isTold`: how the drill came out stands on this page already. */
function WhatHappened({ question: { outcome }, isTold }: { question: QuestionView; isTold?: boolean }) {
  if (outcome === null) return null;
  const { expected, explains, happened } = outcome;
  return html`<div class="room-outcome">
    ${happened === null && html`<p>${words.notPlayedYet}</p>`}
    ${happened !== null && !isTold && html`<p>${words.happened(happened.verdict, happened.sentence)}</p>`}
    ${happened !== null && /pass|fail/.test(happened.verdict) && happened.verdict !== expected && html`<p>${words.otherwise}</p>`}
    <p>${explains}</p>
  </div>`;
}

/** Whether a key was meant for the room. A list of drills looks for the letter that is typed; no drill begins with that of the question. */
export function isForTheRoom(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return false;
  return event.key === roomKeys.ask || !(event.target instanceof HTMLSelectElement);
}

/** The next key is one of the room, and no letter of the list that was chosen from. */
export function leaveList({ target }: Event) {
  if (target instanceof HTMLSelectElement) target.blur();
}
