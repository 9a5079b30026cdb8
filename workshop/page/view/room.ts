// The room: where it follows, and the question of a step, as it is asked and answered.

import { html } from 'htm/preact';
import type { QuestionView } from '../protocol.ts';
import { type Live, useLive } from './live.ts';
import { inLanguage, say } from './texts.ts';

/** Where the room follows: a code for cameras, and the address to be typed. */
export function Room({ live }: { live: Live }) {
  const { share, room } = useLive(live);
  if (share === undefined || room === undefined) return html`<p>${say(live.isLost() ? 'offline' : 'loading')}</p>`;
  if (share === null) return html`<p>${say('notShared')} <code>npm run live -- --share</code></p>`;
  const image = `data:image/svg+xml,${encodeURIComponent(share.code)}`;
  return html`<article class="room">
    <h2>${say('follow')}</h2>
    <p class="address"><code>${share.address}</code></p>
    <img src=${image} alt=${say('code_of', { address: share.address })} />
    <p role="status">${say('following', { count: room.followers })}</p>
  </article>`;
}

/** Asks the room about a scenario under a stage, or what the lesson asks, and shows what it says. */
export function AskRoom({ live, stage, drill }: { live: Live; stage: string; drill?: string }) {
  const { share, room } = useLive(live);
  if (!share || !room) return null;
  const isIt = room.question?.stage === stage && room.question.drill === (drill ?? null);
  const question = isIt && room.question ? room.question : undefined;
  const ask = (command: 'close-votes' | 'reveal' | 'forget') => () => live.command({ do: command });
  return html`<section class="asked" aria-label=${say('room')}>
    <p class="bar">
      ${
        question === undefined
          ? html`<button onClick=${() => live.command({ do: 'ask', stage, ...(drill && { drill }) })}>${say('askRoom')}</button>`
          : html`${question.is === 'open' && html`<button onClick=${ask('close-votes')}>${say('closeVotes')}</button>`}
          ${question.is !== 'revealed' && html`<button onClick=${ask('reveal')}>${say('reveal')}</button>`}
          <button onClick=${ask('forget')}>${say('forget')}</button>`
      }
      <span role="status">${say('voted', { voted: question?.voted ?? 0, followers: room.followers })}</span>
    </p>
    ${question && drill && html`<h2>${inLanguage(question.question)}</h2>`}
    ${question && (drill || question.is !== 'open') && html`<${Votes} question=${question} isHidden=${question.is === 'open'} />`}
    ${question?.explains && drill && html`<p>${inLanguage(question.explains)}</p>`}
  </section>`;
}

interface VotesProps {
  question: QuestionView;
  /** The votes are not to be seen yet. */
  isHidden?: boolean;
}

/** The answers: how many have chosen each, which one is right, and why the others are not, when that is known. */
export function Votes({ question: { answers, voted }, isHidden = false }: VotesProps) {
  return html`<ol class="votes" type="A">
    ${answers.map(
      ({ text, votes, isRight, because }) => html`<li class=${isRight ? 'is-right' : ''}>
        ${isRight && html`<b>✔ </b>`}${inLanguage(text)} ${because && html`<small>${inLanguage(because)}</small>`}
        ${!isHidden && html`<span class="count"><meter min="0" max=${Math.max(1, voted)} value=${votes ?? 0} aria-label=${inLanguage(text)} /> ${votes}</span>`}
      </li>`,
    )}
  </ol>`;
}
