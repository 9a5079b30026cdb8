// The room: the attendees' address, and a step's question with its votes.

import { html } from 'htm/preact';
import { useRef } from 'preact/hooks';
import { inLanguage } from '../../../loadtest/narration/language.ts';
import type { PresenterParts, QuestionState, QuestionView, RoomCommand } from '../protocol.ts';
import { type Live, useLive } from './live.ts';
import { Mark } from './question.ts';
import { say, type Text } from './texts.ts';

/** The attendees' address: a QR code, and the text to type. */
export function Room({ live }: { live: Live }) {
  const { share, room } = useLive(live);
  if (share === undefined || room === undefined) return html`<p>${say(live.isLost() ? 'offline' : 'loading')}</p>`;
  if (share === null) return html`<p>${say('notShared')} <code>npm run live -- --share</code></p>`;
  return html`<article class="room">
    <h2>${say('follow')}</h2>
    <${Address} share=${share} />
    <p role="status">${say('following', { count: room.followers })}</p>
  </article>`;
}

/** The address to join. It stays on the screen during voting, for latecomers. */
function Address({ share: { address, code } }: { share: NonNullable<PresenterParts['share']> }) {
  return html`<p class="address">
    <code>${address}</code>
    <img src=${`data:image/svg+xml,${encodeURIComponent(code)}`} alt=${say('code_of', { address })} />
  </p>`;
}

/** The next command for a question, by its state, and the button's label. */
const next: Record<QuestionState, [does: Exclude<RoomCommand['do'], 'ask'>, label: Text]> = {
  open: ['close-votes', 'closeVotes'],
  closed: ['reveal', 'reveal'],
  revealed: ['forget', 'forget'],
};

/** Asks the room about a scenario under a stage, or the lesson's question, and shows the votes. */
export function AskRoom({ live, stage, drill }: { live: Live; stage: string; drill?: string }) {
  const { share, room } = useLive(live);
  const main = useRef<HTMLButtonElement>(null);
  if (!share || !room) return null;
  const isIt = room.question?.stage === stage && room.question.drill === (drill ?? null);
  const question = isIt && room.question ? room.question : undefined;
  const [does, label]: [RoomCommand['do'], Text] = question ? next[question.is] : ['ask', 'askRoom'];
  function press({ detail }: MouseEvent) {
    // The second click of a double click was not meant for what the button says by then.
    if (detail > 1) return;
    void live.command(does === 'ask' ? { do: 'ask', stage, ...(drill && { drill }) } : { do: does });
  }
  function forget() {
    main.current?.focus();
    void live.command({ do: 'forget' });
  }
  return html`<section class="asked" aria-label=${say('room')}>
    <p class="bar">
      <button ref=${main} onClick=${press}>${say(label)}</button>
      ${question && does !== 'forget' && html`<button onClick=${forget}>${say('forget')}</button>`}
      <span role="status">${say('voted', { voted: question?.voted ?? 0, followers: room.followers })}</span>
    </p>
    ${question?.is === 'open' && html`<${Address} share=${share} />`}
    ${question && drill && html`<h2>${inLanguage(question.question)}</h2>`}
    ${question && (drill || question.is !== 'open') && html`<${Votes} question=${question} isBrief=${!drill} />`}
    ${question?.explains && drill && html`<p>${inLanguage(question.explains)}</p>`}
  </section>`;
}

interface VotesProps {
  question: QuestionView;
  /** The viewer's own answer. */
  chosen?: number | undefined;
  /** The answers are already shown above: their numbers are enough. */
  isBrief?: boolean;
}

/** The answers with their votes and, once revealed, which one is right and why the others are wrong. */
export function Votes({ question: { is, answers, voted }, chosen, isBrief = false }: VotesProps) {
  return html`<ol class=${isBrief ? 'votes brief' : 'votes'}>
    ${answers.map(
      ({ text, votes, isRight, because }, place) => html`<li class=${isRight ? 'is-right' : ''}>
        <${Mark} of=${place} />
        <span>
          ${isRight && html`<b>✔ </b>`}${!isBrief && inLanguage(text)} ${chosen === place && html`<small>${say('yours')}</small>`} ${because && html`<small>${inLanguage(because)}</small>`}
          ${is !== 'open' && html`<span class="count"><meter min="0" max=${Math.max(1, voted)} value=${votes ?? 0} aria-label=${inLanguage(text)} /> ${votes}</span>`}
        </span>
      </li>`,
    )}
  </ol>`;
}
