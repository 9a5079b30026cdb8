import { expect, test } from 'vitest';
import { html, trusted } from '../../../loadtest/report/escape.ts';

test('escape: what is inserted into a page is escaped once, in lists as well, unless it is markup already', () => {
  const item = (text: string) => html`<li title="${text}">${text}</li>`;

  expect(html`${['<a>', item('"&"')]}${trusted('<hr>')}${7}${false}${undefined}`.markup).toBe(
    '&lt;a&gt;<li title="&quot;&amp;&quot;">&quot;&amp;&quot;</li><hr>7',
  );
});
