import { expect, test } from 'vitest';
import { escapeText, html, trusted } from '../../../loadtest/report/escape.ts';

test('escape: no sign of a text ends the tag or the attribute that it stands in', () => {
  expect(escapeText(`<b a="1" c='2'> & &lt;`)).toBe('&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt; &amp; &amp;lt;');
});

test('escape: what is inserted into a page is escaped once, in lists as well, unless it is markup already', () => {
  const item = (text: string) => html`<li title="${text}">${text}</li>`;

  expect(html`${['<a>', item('"&"')]}${trusted('<hr>')}${7}${false}${undefined}`.markup).toBe(
    '&lt;a&gt;<li title="&quot;&amp;&quot;">&quot;&amp;&quot;</li><hr>7',
  );
});
