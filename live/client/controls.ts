// The controls of the presenter: what is played, and how it goes on.

import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Order } from '../contract.ts';
import { texts } from '../texts/en.ts';
import { stageBefore } from './choice.ts';
import { sendOrder, tokenInAddress } from './order.ts';
import { canBegin, playKey } from './state.ts';
import { choice, isBeside, isScheduling, pickDrill, pickStage, playOrder, readingOf, shown } from './store.ts';
import { WorkshopButton } from './workshop.ts';

const words = texts.controls;

export const playKeys = { play: 'p', stepwise: 's' } as const;

/** The order that plays what is chosen. Two stages are both to be seen: the question gives way. */
export function beginOrder(isStepwise: boolean): Order {
  const { tab } = readingOf(0);
  if (isBeside.value && tab.value === 'predict') tab.value = 'story';
  return playOrder(isStepwise);
}

export function Controls() {
  const { choices, play, room, taught } = shown.value;
  const { stage, drill } = choice.value;
  const chosen = choices.find(({ name }) => name === stage);
  const asked = chosen?.drills.find(({ name }) => name === drill);
  const isIdle = canBegin(play);
  const before = stageBefore(choices, choice.value);
  if (choices.length === 0) return html`<header class="controls"><h1>${texts.title}</h1></header>`;
  return html`<header class="controls">
    <h1>${texts.title}</h1>
    <form class="choice" aria-label=${words.name} onSubmit=${(event: Event) => event.preventDefault()}>
      <label>
        <span>${words.stage}</span>
        <select value=${stage} disabled=${!isIdle} onChange=${(event: Event) => pickStage(chosenIn(event))}>
          ${choices.map(({ name, title }) => html`<option key=${name} value=${name}>${title}</option>`)}
        </select>
      </label>
      <label>
        <span>${words.drill}</span>
        <select value=${drill} disabled=${!isIdle} onChange=${(event: Event) => pickDrill(chosenIn(event))}>
          ${chosen?.drills.map(
            ({ name }) =>
              html`<option key=${name} value=${name}>${words.drillOption(name, taught[playKey(stage, name)])}</option>`,
          )}
        </select>
      </label>
    </form>
    <${OrderButtons} isIdle=${isIdle} canPlay=${asked !== undefined} />
    <div class="question">
      <p class="asks">
        ${shown.value.controls === null && asked?.asks}
      </p>
      ${
        shown.value.controls === null &&
        html`<label class="check">
        <input
          type="checkbox"
          checked=${isBeside.value && before !== undefined}
          disabled=${!isIdle || before === undefined}
          onChange=${(event: Event) => {
            isBeside.value = event.currentTarget instanceof HTMLInputElement && event.currentTarget.checked;
          }}
        />
        <span>${words.beside}</span>
      </label>`
      }
      <${WorkshopButton} />
      <p class=${`status is-${play.is}`} role="status">${texts.play[play.is]}</p>
      ${room?.address != null && html`<p class="follow-at">${texts.room.followAt} <b>${room.address}</b></p>`}
    </div>
  </header>`;
}

function chosenIn({ currentTarget }: Event): string {
  return currentTarget instanceof HTMLSelectElement ? currentTarget.value : '';
}

/** Before a drill the buttons that begin it, while it is played those that lead through it. */
function OrderButtons({ isIdle, canPlay }: { isIdle: boolean; canPlay: boolean }) {
  const { is } = shown.value.play;
  const group = useRef<HTMLDivElement>(null);
  const was = useRef(isIdle);
  useEffect(() => {
    // The button that had the focus is gone: the first of the new ones has it, so that the space bar goes on. When a drill has come to
    // its verdict that has it: one space bar too many begins nothing.
    const isLost = document.activeElement === document.body;
    const verdict = isIdle ? document.querySelector<HTMLElement>('.verdict') : null;
    if (was.current !== isIdle && isLost) (verdict ?? group.current?.querySelector('button'))?.focus();
    was.current = isIdle;
  }, [isIdle]);
  return html`<div class="orders" ref=${group}>
    ${
      isIdle
        ? html`${orderButton('play', words.play, canPlay, () => beginOrder(false), 'is-first', playKeys.play)}
          ${orderButton('stepwise', words.stepwise, canPlay, () => beginOrder(true), '', playKeys.stepwise)}
          ${orderButton('free', words.free, canPlay, () => ({ do: 'free', stage: choice.value.stage }))}
          <${Elsewhere} />`
        : is === 'free' || (is === 'stopping' && shown.value.controls !== null)
          ? orderButton('stop', words.endFree, is === 'free', () => ({ do: 'stop' }))
          : html`${orderButton('next', html`${words.next} <kbd>${words.nextKey}</kbd>`, is === 'waiting', () => ({ do: 'next' }), 'is-first')}
          ${orderButton('run-on', words.runOn, is === 'waiting', () => ({ do: 'run-on' }))}
          ${orderButton('stop', words.stop, is !== 'stopping', () => ({ do: 'stop' }))}`
    }
  </div>`;
}

/** What leads away from the stack: the game without servers, and the run as a file. */
function Elsewhere() {
  const { puzzle, views } = shown.value;
  const hasRun = views.some(({ story, verdict }) => story.length > 0 || verdict !== null);
  return html`${
    puzzle !== undefined &&
    html`<button
      onClick=${() => {
        isScheduling.value = true;
      }}
    >
      ${words.scheduler}
    </button>`
  }
  <a class="button" style=${hasRun ? '' : 'visibility: hidden'} href=${`/run?token=${encodeURIComponent(tokenInAddress())}`} download>${words.save}</a>`;
}

/** A button that keeps the focus while it can't be used. */
function orderButton(name: string, words: unknown, canBeUsed: boolean, orderOf: () => Order, kind = '', key?: string) {
  return html`<button
    key=${name}
    class=${kind}
    title=${key}
    aria-keyshortcuts=${key}
    aria-disabled=${!canBeUsed}
    onClick=${() => {
      if (canBeUsed) void sendOrder(orderOf());
    }}
  >
    ${words}
  </button>`;
}
