// Starts the page that a server sends: draws it, and opens the line from the server.

import { drawPage } from './draw.ts';
import { tokenInAddress } from './order.ts';
import { line, receive } from './store.ts';
import { openStream } from './stream.ts';

drawPage();
// A new token in the address is that of another server.
addEventListener('hashchange', () => location.reload());

const token = tokenInAddress();
if (token === '') line.value = 'no-token';
else
  openStream(token, receive, (state) => {
    line.value = state;
  });
