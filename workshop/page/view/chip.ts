// A sale's name in its colour.

import { html } from 'htm/preact';

export const Chip = ({ sale }: { sale: string }) => html`<b class=${`chip c-${sale}`}>${sale}</b>`;
