// The figures of a rush, big enough for the last row of the room.

import { html } from 'htm/preact';
import type { Figures } from '../contract.ts';
import { texts } from '../texts/en.ts';
import { canBegin } from './state.ts';
import { shown } from './store.ts';

export function FiguresPanel({ figures }: { figures: Figures | null }) {
  if (figures === null) return html`<p class="empty">${texts.figures.none}</p>`;
  const { sold, refused, inDoubt, lost, noAnswer } = figures;
  const isOver = canBegin(shown.value.play);
  return html`<dl class="figures">
    ${figure(texts.figures.sold, texts.number(sold))}
    ${figure(isOver ? texts.figures.lost : texts.figures.lostSoFar, texts.number(lost), lost > 0)}
    ${figure(texts.figures.refused, texts.number(refused))}
    ${figure(texts.figures.inDoubt, texts.number(inDoubt))}
    ${figure(texts.figures.noAnswer, texts.number(noAnswer))}
  </dl>`;
}

function figure(name: string, value: string, isBad = false) {
  return html`<div class=${isBad ? 'is-bad' : ''}>
    <dt>${name}</dt>
    <dd>${isBad && html`<span aria-hidden="true">${texts.figures.lostSign} </span>`}${value}</dd>
  </div>`;
}
