// The view of a rush: the sentence, the picture, and the position.

import { html } from 'htm/preact';
import { type Rush, RushPicture, sayRush } from '../../picture/rush.ts';
import { isSoldTwice } from './cells.ts';
import type { Player, Rhythm } from './player.ts';
import { Sentence, useSize } from './playing.ts';
import { say } from './texts.ts';

/** The length of the whole rush, in milliseconds, and the longest time per sale. */
const [ALL_MS, SALE_MS] = [8_000, 110];

export function rhythmOfRush(rush: Rush | undefined): Rhythm {
  const count = rush?.sales.length ?? 0;
  return { count, beatMs: () => Math.min(SALE_MS, ALL_MS / count), readMs: () => 0 };
}

export function RushShown({ rush, player }: { rush: Rush; player: Player }) {
  const [place, size] = useSize();
  const isOver = player.pos >= rush.sales.length;
  return html`<${Sentence} said=${sayRush(rush, player.pos)} tone=${isOver ? (isSoldTwice(rush) ? 'bad' : 'good') : undefined} />
    <div class="canvas" ref=${place}>${size.w > 0 && html`<${RushPicture} rush=${rush} pos=${player.pos} size=${size} />`}</div>
    <div class="lanes"><input type="range" min="0" max=${rush.sales.length} value=${Math.floor(player.pos)} aria-label=${say('moment')}
      onInput=${(event: Event) => player.go(Number((event.target as HTMLInputElement).value))} /></div>`;
}
