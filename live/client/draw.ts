// Draws the page, and listens to the keys.

import { html } from 'htm/preact';
import { render } from 'preact';
import { texts } from '../texts/en.ts';
import { listenToKeys } from './keyboard.ts';
import { Page } from './page.ts';
import { drawWith } from './page-value.ts';

/** Draws it for as long as it lives, with this above everything. */
export function drawPage(top?: () => unknown) {
  document.title = texts.title;
  const place = document.getElementById('page');
  if (place !== null) drawWith(() => render(html`<${Page} top=${top} />`, place));
  listenToKeys();
}
