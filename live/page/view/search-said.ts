// What the search says, in the language of the page.

import { html } from 'htm/preact';
import { inEnglish, type SearchSentence } from '../../../prove/wording.ts';
import { inChinese } from '../../../prove/wording.zh.ts';
import { spoken } from './texts.ts';

export function SearchSaid({ sentence }: { sentence: SearchSentence }) {
  return html`<span>${spoken() === 'zh' ? inChinese(sentence) : inEnglish(sentence)}</span>`;
}
