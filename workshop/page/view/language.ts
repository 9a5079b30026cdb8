// The switch between the languages of the page.

import { html } from 'htm/preact';
import { spoken } from '../../../loadtest/narration/language.ts';
import { say } from './texts.ts';

/** The button that chooses the other language. */
export function LanguageButton({ choose }: { choose(language: string): void }) {
  const other = spoken() === 'en' ? 'zh' : 'en';
  return html`<button class="plain" lang=${other === 'zh' ? 'zh-CN' : 'en'} onClick=${() => choose(other)}>${say('language')}</button>`;
}
