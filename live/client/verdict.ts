// The verdict of a drill, and why it is what it is.

import { html } from 'htm/preact';
import type { Verdict } from '../../loadtest/evidence/results.ts';
import type { VerdictView } from '../contract.ts';
import { texts } from '../texts/en.ts';

/** The verdict as the room reads it. Its place is there before it is, so that a screen reader speaks it. */
export function VerdictBanner({ verdict }: { verdict: VerdictView | null }) {
  return html`<div role="status">${verdict && verdictBox(verdict.verdict, verdict.taught, verdict.reasons)}</div>`;
}

export function verdictBox(verdict: Verdict | 'broken', taught: VerdictView['taught'], reasons: string[]) {
  const { sign, word } = texts.verdict[verdict];
  const isOff = taught !== null && verdict !== taught && (verdict === 'pass' || verdict === 'fail');
  return html`<div class=${`verdict is-${verdict} ${isOff ? 'is-off' : ''}`} tabindex="-1">
    <p class="word"><span class="sign" aria-hidden="true">${sign}</span> ${word}${texts.verdict.compared(verdict, taught)}</p>
    ${reasons.map((reason) => html`<p>${reason}</p>`)}
  </div>`;
}

/** The sentences that name who did what. */
export function Witnesses({ verdict }: { verdict: VerdictView | null }) {
  if (verdict === null || verdict.witnesses.length === 0) return null;
  return html`<section class="witnesses">
    <h3>${texts.verdict.witnesses}</h3>
    <ul>
      ${verdict.witnesses.map((witness) => html`<li>${texts.verdict.witness(witness)}</li>`)}
    </ul>
  </section>`;
}
