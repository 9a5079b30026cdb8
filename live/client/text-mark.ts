// A text of a drawing.

import { html } from 'htm/preact';
import type { Fitted } from './text-width.ts';

/** A text that begins at `x`, or has its middle or its end there. */
export function textMark(kind: string, x: number, y: number, { text, size, length }: Fitted, anchor = 'start') {
  return html`<text class=${kind} x=${x} y=${y} text-anchor=${anchor} font-size=${size} textLength=${length} lengthAdjust="spacingAndGlyphs">${text}</text>`;
}
