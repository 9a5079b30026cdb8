// What stands in the way: a broken line, an order that was not followed, what went wrong on the server.

import { html } from 'htm/preact';
import { texts } from '../texts/en.ts';
import { line, orderTrouble, shown } from './store.ts';

export function Notices() {
  const { is, trouble } = shown.value.play;
  const known: Record<string, string | null> = {
    open: null,
    connecting: null,
    broken: is === 'over' ? null : texts.line.broken,
    'no-token': texts.line.noToken,
  };
  const words = line.value in known ? known[line.value] : line.value;
  return html`<div class="notices">
    <div role="status">${words && html`<p class="notice">${words}</p>`}</div>
    <div role="alert">
      ${trouble !== null && html`<p class="notice">${trouble}</p>`}
      ${
        orderTrouble.value !== null &&
        html`<p class="notice">
          ${orderTrouble.value}${' '}
          <button
            onClick=${() => {
              orderTrouble.value = null;
            }}
          >
            ${texts.orders.dismiss}
          </button>
        </p>`
      }
    </div>
  </div>`;
}
