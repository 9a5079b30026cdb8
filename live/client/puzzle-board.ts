// The board of "you are the scheduler": a column for each process, one for Redis and the clock, and one for the steps so far.

import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import type { GameView, MoveView, ProcessView } from '../puzzle-contract.ts';
import { texts as allTexts } from '../texts/en.ts';

const texts = allTexts.puzzle;
const { redis: ofRedis, process: ofProcess } = texts;
/** So many of the things that a process has done are shown. */
const SHOWN_DEEDS = 4;

interface BoardProps {
  game: GameView;
  choose: (move: MoveView) => void;
}

/** A move, and its number among all that can be made. */
interface Numbered {
  move: MoveView;
  number: number;
}

export function PuzzleBoard({ game, choose }: BoardProps) {
  const { processes, moves, step } = game;
  const board = useRef<HTMLDivElement>(null);
  const hasChosen = useRef(false);
  const numbered = moves.map((move, at) => ({ move, number: at + 1 }));
  const names = processes.map(({ name }) => name);
  const choosing = (move: MoveView) => {
    hasChosen.current = true;
    choose(move);
  };

  // The button that was pressed is gone: who presses buttons goes on with the first of the new ones.
  useEffect(() => {
    if (hasChosen.current) board.current?.querySelector<HTMLButtonElement>('.puzzle-move')?.focus();
    hasChosen.current = false;
  }, [step]);

  return html`
    <div class=${`puzzle-board of-${processes.length}`} ref=${board}>
      ${processes.map(
        (process) => html`
          <section key=${process.name} class="puzzle-column" aria-label=${ofProcess.name(process.name)}>
            <${Process} process=${process} />
            <${Moves}
              who=${process.name}
              moves=${numbered.filter(({ move }) => move.who === process.name)}
              choose=${choosing}
            />
          </section>
        `,
      )}
      <section class="puzzle-column" aria-label=${ofRedis.name}>
        <${Redis} game=${game} />
        <${Moves}
          who=${ofRedis.name}
          moves=${numbered.filter(({ move }) => !names.includes(move.who))}
          choose=${choosing}
        />
      </section>
      <${Steps} game=${game} />
    </div>
  `;
}

function Process({ process }: { process: ProcessView }) {
  const { name, is, away, hasLock, did, onItsWay, timerInMs } = process;
  const isAlone = is === 'inside' && !hasLock;
  return html`
    <h3 class=${`puzzle-name is-${is.replace(' ', '-')}${away === null ? '' : ' is-away'}`}>
      <span class="puzzle-letter">${name}</span>
      <span>${ofProcess.states[is]}</span>
      ${away !== null && html`<span class="puzzle-away">${ofProcess.away[away]}</span>`}
    </h3>
    ${hasLock && html`<p class="puzzle-has-lock">${ofProcess.hasLock}</p>`}
    ${isAlone && html`<p class="puzzle-no-lock">${ofProcess.insideWithoutLock}</p>`}
    <ul class="puzzle-did">
      ${did.length === 0 && html`<li>${ofProcess.nothingYet}</li>`}
      ${did.slice(-SHOWN_DEEDS).map((deed, at) => html`<li key=${at}>${ofProcess.deed(deed)}</li>`)}
    </ul>
    ${onItsWay !== null && html`<p class="puzzle-way"><code>${ofProcess.onItsWay(onItsWay)}</code></p>`}
    ${timerInMs !== null && html`<p>${ofProcess.timer(timerInMs)}</p>`}
  `;
}

function Redis({ game: { redis, atMs } }: { game: GameView }) {
  const { lock, leaseMs, stock, expected, others } = redis;
  return html`
    <h3 class="puzzle-name"><span>Redis</span><span class="puzzle-clock">${ofRedis.clock(atMs)}</span></h3>
    ${
      lock === null
        ? html`<p>${ofRedis.noLock}</p>`
        : html`
          <p><code>${ofRedis.lock(lock)}</code></p>
          ${
            lock.leftMs !== null &&
            html`<meter
              class="puzzle-lease"
              aria-label=${ofRedis.lease}
              min="0"
              max=${leaseMs}
              value=${lock.leftMs}
            ></meter>`
          }
          <p>${ofRedis.left(lock.leftMs)}</p>
        `
    }
    <p class=${stock === expected ? 'puzzle-stock' : 'puzzle-stock is-wrong'}>
      <strong>${ofRedis.stock(stock)}</strong> ${ofRedis.expected(redis)}
    </p>
    ${others.map((other) => html`<p key=${other.key}><code>${ofRedis.other(other)}</code></p>`)}
  `;
}

function Moves({ who, moves, choose }: { who: string; moves: Numbered[]; choose: BoardProps['choose'] }) {
  if (moves.length === 0) return null;
  return html`
    <ul class="puzzle-moves" aria-label=${texts.moves(who)}>
      ${moves.map(
        ({ move, number }) => html`
          <li key=${move.index}>
            <button
              class="puzzle-move"
              aria-keyshortcuts=${number <= 9 ? String(number) : undefined}
              onClick=${() => choose(move)}
            >
              ${number <= 9 && html`<kbd>${number}</kbd>`}
              <span>${texts.move(move)}${move.command !== undefined && html`<code>${move.command}</code>`}</span>
            </button>
          </li>
        `,
      )}
    </ul>
  `;
}

function Steps({ game: { step, steps } }: { game: GameView }) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight;
  }, [step]);
  return html`
    <section class="puzzle-column puzzle-past" aria-label=${texts.steps.name(step)}>
      <h3 class="puzzle-name"><span>${texts.steps.name(step)}</span></h3>
      ${
        steps.length === 0
          ? html`<p>${texts.steps.none}</p>`
          : html`
            <ol class="puzzle-steps" ref=${list} start=${step - steps.length + 1} tabindex="0" aria-live="polite">
              ${steps.map(
                (each, at) => html`
                  <li key=${step - steps.length + at}>
                    <span class="puzzle-at">${texts.steps.at(each.atMs)}</span> ${texts.steps.sentence(each)}
                  </li>
                `,
              )}
            </ol>
          `
      }
    </section>
  `;
}
