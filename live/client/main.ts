// Starts the page: draws it, and opens the line from the server.

import { html } from 'htm/preact';
import { render } from 'preact';
import { texts } from '../texts/en.ts';
import { listenToKeys } from './keyboard.ts';
import { tokenInAddress } from './order.ts';
import { Page } from './page.ts';
import { drawWith } from './page-value.ts';
import { openSavedRun, savedRun } from './saved-run.ts';
import { line, receive } from './store.ts';
import { openStream } from './stream.ts';

document.title = texts.title;
const place = document.getElementById('page');
if (place !== null) drawWith(() => render(html`<${Page} />`, place));
listenToKeys();
// A new token in the address is that of another server.
addEventListener('hashchange', () => location.reload());

const token = tokenInAddress();
const saved = savedRun();
if (saved !== undefined) openSavedRun(saved);
else if (token === '') line.value = 'no-token';
else
  openStream(token, receive, (state) => {
    line.value = state;
  });
