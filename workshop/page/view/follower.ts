// The follower's page: voting, and its result.

import { html } from 'htm/preact';
import { render } from 'preact';
import { useState } from 'preact/hooks';
import { inLanguage } from '../../../loadtest/narration/language.ts';
import type { FollowerParts, QuestionView } from '../protocol.ts';
import { LanguageButton } from './language.ts';
import { connect, type Live, useLive } from './live.ts';
import { Mark } from './question.ts';
import { RealRun } from './real.ts';
import { Votes } from './room.ts';
import { say, speakAtFirst } from './texts.ts';

type Room = Live<FollowerParts>;

function Follower({ live }: { live: Room }) {
  const { room, run } = useLive(live);
  const [language, choose] = useState<string>();
  speakAtFirst(language);
  const question = room?.question;
  return html`<header>
      <h1>${say('title')}</h1>
      <${LanguageButton} choose=${choose} />
    </header>
    <main class="follower">
      <p role="status" class="trouble">${live.isLost() ? say('offline') : live.problem() && html`<span lang="en">${live.problem()}</span>`}</p>
      ${
        question
          ? html`<${Ballot} key=${question.number} question=${question} live=${live} />`
          : html`<p>${say(room ? 'noQuestion' : 'loading')}</p>`
      }
      ${run && html`<${RealRun} key=${run.number} run=${run} isOver=${true} />`}
    </main>`;
}

function Ballot({ question, live }: { question: QuestionView; live: Room }) {
  const [chosen, choose] = useState<number>();
  const { number, is, answers, explains } = question;
  async function vote(answer: number) {
    if (await live.vote({ question: number, answer })) choose(answer);
  }
  return html`<section class="ballot">
    <h2>${inLanguage(question.question)}</h2>
    ${
      is === 'open'
        ? answers.map(
            ({ text }, place) =>
              html`<button aria-pressed=${chosen === place} onClick=${() => vote(place)}><${Mark} of=${place} /> ${inLanguage(text)}</button>`,
          )
        : html`<${Votes} question=${question} chosen=${chosen} />`
    }
    <p role="status">${
      is === 'open'
        ? say(chosen === undefined ? 'choose' : 'chosen')
        : is === 'closed'
          ? say('closed')
          : html`<b>${say(chosen === undefined ? 'unsaid' : answers[chosen]?.isRight ? 'right' : 'wrong')}</b> ${explains && inLanguage(explains)}`
    }</p>
  </section>`;
}

render(html`<${Follower} live=${connect<FollowerParts>()} />`, document.body);
