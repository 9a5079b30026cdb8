// The buttons of free play: what can be done to each part of the stack, and why one would do nothing.

import { html } from 'htm/preact';
import type { Control, Order } from '../contract.ts';
import { texts } from '../texts/en.ts';
import { sendOrder } from './order.ts';

/** How many sales a rush has. */
const RUSH = 200;

export function FreePanel({ controls }: { controls: Control[] }) {
  const parts = [...new Set(controls.map(({ at }) => at))];
  return html`<section class="free" aria-label=${texts.free.name}>
    ${parts.map(
      (part) => html`<fieldset key=${part ?? ''}>
        <legend>${part ?? texts.free.whole}</legend>
        ${controls.filter(({ at }) => at === part).map((control) => html`<${ActButton} key=${control.act} control=${control} />`)}
        ${part === undefined && html`<button onClick=${() => sendOrder({ do: 'undo' })}>${texts.free.undo}</button>`}
      </fieldset>`,
    )}
  </section>`;
}

/** A button that would do nothing can be pressed all the same: the answer says why. */
function ActButton({ control: { act, at, isOn, whyNot } }: { control: Control }) {
  const words =
    act === 'rush'
      ? texts.free.rush(RUSH)
      : isOn
        ? (texts.free.undoes[act] ?? texts.free.acts[act])
        : texts.free.acts[act];
  const order: Order = { do: 'act', act, ...(at !== undefined && { at }), ...(act === 'rush' && { count: RUSH }) };
  return html`<button
    class=${isOn ? 'is-on' : ''}
    aria-pressed=${isOn}
    aria-disabled=${whyNot !== undefined}
    title=${whyNot}
    onClick=${() => sendOrder(order)}
  >
    ${words}
  </button>`;
}
