// "You are the scheduler": the processes side by side, what Redis holds, and everything that can happen next as a button.

import { html } from 'htm/preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { GameView, MoveView, PuzzleOrder, PuzzleView } from '../puzzle-contract.ts';
import { texts as allTexts } from '../texts/en.ts';
import { PuzzleBoard } from './puzzle-board.ts';
import { orderOfKey } from './puzzle-keys.ts';
import { choice } from './store.ts';

const texts = allTexts.puzzle;

export interface PuzzleProps {
  view: PuzzleView;
  /** Sends an order to the server. */
  send: (order: PuzzleOrder) => void;
}

/** What is typed into these is no order. */
const TYPING = 'input, select, textarea, [contenteditable]';

export function PuzzlePanel({ view, send }: PuzzleProps) {
  const { levels, opening, game, trouble } = view;
  useKeys(game, send);
  // The level of what is chosen beside the stack is the first.
  useEffect(() => {
    const level = `${choice.value.stage}/${choice.value.drill}`;
    if (game === null && opening === null && levels.some(({ name }) => name === level)) send({ do: 'open', level });
  }, []);
  const openLevel = (event: Event) => send({ do: 'open', level: (event.currentTarget as HTMLSelectElement).value });
  const chosen = opening ?? game?.level.name ?? '';
  return html`
    <section class="puzzle" aria-label=${texts.title}>
      <header class="puzzle-head">
        <h2>${texts.title}</h2>
        <label class="puzzle-level">
          <span>${texts.level}</span>
          <select value=${chosen} onChange=${openLevel}>
            ${chosen === '' && html`<option value="" selected>${texts.choose}</option>`}
            ${levels.map(
              (level) => html`
                <option key=${level.name} value=${level.name} selected=${level.name === chosen}>
                  ${texts.levelOption(level)}
                </option>
              `,
            )}
          </select>
        </label>
        ${game && html`<${Controls} game=${game} send=${send} />`}
      </header>
      ${trouble !== null && html`<p class="puzzle-trouble" role="alert">${trouble}</p>`}
      ${opening !== null && html`<p role="status">${texts.opening(opening)}</p>`}
      ${game ? html`<${Game} game=${game} send=${send} />` : html`<p>${texts.explain}</p>`}
    </section>
  `;
}

interface GameProps {
  game: GameView;
  send: PuzzleProps['send'];
}

function Controls({ game: { step, moves, standing, hints }, send }: GameProps) {
  return html`
    <div class="puzzle-controls">
      <button
        disabled=${moves.length !== 1}
        title=${texts.buttons.goOnMeans}
        aria-keyshortcuts="g"
        onClick=${() => send({ do: 'go on', step })}
      >
        ${texts.buttons.goOn} <kbd>g</kbd>
      </button>
      <button disabled=${step === 0} aria-keyshortcuts="u" onClick=${() => send({ do: 'undo' })}>
        ${texts.buttons.undo} <kbd>u</kbd>
      </button>
      <button disabled=${step === 0} onClick=${() => send({ do: 'again' })}>${texts.buttons.again}</button>
      <button
        disabled=${standing.is === 'won'}
        aria-keyshortcuts="h"
        onClick=${() => send({ do: 'hint' })}
      >
        ${texts.buttons.hint} <kbd>h</kbd>
      </button>
      <span class="puzzle-hints">${texts.hints(hints)}</span>
      <button onClick=${() => send({ do: 'close' })}>${texts.buttons.close}</button>
    </div>
  `;
}

function Game({ game, send }: GameProps) {
  const { level, counts, faultsLeft, step, standing, knows, hints, hint } = game;
  const choose = (move: MoveView) => send({ do: 'move', index: move.index, step });
  return html`
    <div class="puzzle-task">
      <p>${texts.sales(level.processes)}</p>
      <p class="puzzle-goal"><strong>${texts.goal}</strong> ${texts.goals[level.scope]}</p>
      <details>
        <summary>${texts.counts}</summary>
        <div>
          <ul>${counts.map((each) => html`<li key=${each}>${texts.counting[each]}</li>`)}</ul>
          <p class="puzzle-rule">${texts.clockRule}</p>
        </div>
      </details>
      <p class="puzzle-faults">${texts.faults(faultsLeft)}</p>
    </div>
    <p class=${`puzzle-knows is-${knows.is}`} role="status">${texts.knows(knows)}</p>
    <div role="status">
      ${
        standing.is !== 'going' &&
        html`<p class=${`puzzle-banner is-${standing.is === 'won' ? 'won' : 'ended'}`}>${texts.standing(standing, step, hints, knows)}</p>`
      }
      ${hint !== null && html`<p class="puzzle-banner is-hint">${texts.hint(hint)}</p>`}
    </div>
    <${PuzzleBoard} game=${game} choose=${choose} />
  `;
}

/** `1` to `9` choose what happens next, `g` goes on, `u` takes a step back, `h` asks for a hint. */
function useKeys(game: GameView | null, send: PuzzleProps['send']) {
  const latest = useRef({ game, send });
  latest.current = { game, send };
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { game, send } = latest.current;
      const isTyping = event.target instanceof Element && event.target.closest(TYPING) !== null;
      if (game === null || isTyping || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      const order = orderOfKey(event.key, game);
      if (order === undefined) return;
      event.preventDefault();
      send(order);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}
