// The shop at one moment: buyers, nginx, two nodes, the lock where it is, and the stock.

import { html } from 'htm/preact';
import { insideAt, isLetter, lostAt, type Moment, type ShownNode } from './reduce.ts';
import { say, type Text } from './texts.ts';

/** Where the lock is: with the buyers there is none. */
export type LockPlace = 'none' | 'node' | 'redis';

const MOST = 6;

export function Picture({ moment, place, label }: { moment: Moment<unknown>; place: LockPlace; label: string }) {
  const { nodes, stock, expected, sold } = moment;
  const lost = lostAt(moment);
  return html`<figure class="picture" aria-label=${label}>
    <div class="part buyers"><b>${say('buyers')}</b></div>
    <${Wire} path="M0 50H100" />
    <div class="part nginx"><b>nginx</b></div>
    <${Wire} path="M0 50L100 25M0 50L100 75" />
    ${nodes.map((node) => html`<${Node} node=${node} place=${place} crowd=${insideAt(moment)} />`)}
    <${Wire} path=${place === 'redis' ? 'M0 25L100 30M0 75L100 40' : 'M0 25L100 62M0 75L100 68'} />
    <div class="part redis">
      <b>Redis</b>
      ${place === 'redis' && html`<${LockKey} moment=${moment} />`}
      <div class=${lost > 0 ? 'stock lost' : 'stock'}>
        <span>${say('stock')}</span><strong>${stock}</strong>
        <small>${say('expected')} ${expected}</small>
      </div>
      <small>${say('sold')} ${sold}</small>
    </div>
  </figure>`;
}

/** What joins two columns of the picture: to the lock where Redis has it, else to the stock. */
function Wire({ path }: { path: string }) {
  return html`<svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true"><path d=${path} /></svg>`;
}

function LockKey({ moment: { lock, lockMs } }: { moment: Moment<unknown> }) {
  return html`<div class=${lock === undefined ? 'lock free' : 'lock'}>
    <span>${lock === undefined ? say('free') : html`<code>${lock}</code>`}</span>
    ${lock !== undefined && html`<small>${lockMs === undefined ? say('noEnd') : say('endsIn', { ms: Math.round(lockMs) })}</small>`}
  </div>`;
}

const stateTexts: Record<string, Text> = { killed: 'killed', stopped: 'stopped', blocked: 'blocked' };

function Node({ node, place, crowd }: { node: ShownNode; place: LockPlace; crowd: number }) {
  const { name, state, inside, waiting, asked, held } = node;
  const trouble = stateTexts[state];
  return html`<div class=${`part ${name} ${state}`}>
    <b>${name}</b>${trouble && html` <em>${say(trouble)}</em>`}
    ${place === 'node' && html`<div class=${inside.length > 0 ? 'lock' : 'lock free'}>${say(inside.length > 0 ? 'taken' : 'free')}</div>`}
    <p class=${crowd > 1 && inside.length > 0 ? 'inside crowd' : 'inside'}>${say('inside')} ${names(inside)}</p>
    <p>${say('waiting')} ${names(waiting)}</p>
    <small>${held ? html`<mark>${held}</mark>` : asked && html`<code>${asked.verb}</code>${asked.returned === undefined ? '' : ` → ${JSON.stringify(asked.returned).slice(0, 14)}`}${asked.times > 1 ? ` ×${asked.times}` : ''}`}</small>
  </div>`;
}

/** Letters one by one; of those that have none, how many they are. */
function names(sales: string[]) {
  if (sales.length === 0) return '–';
  const letters = sales.filter(isLetter);
  const others = sales.length - letters.length;
  return html`${letters.map((letter) => html`<span class="sale">${letter}</span>`)}${others > 0 && html`<span class="dots">${'●'.repeat(Math.min(MOST, others))}</span> ${others}`}`;
}
