// The switch between the languages of the page.

import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { say, speak, spoken } from './texts.ts';

/** The page speaks the language that was chosen last. Returns the button that chooses the other one. */
export function useLanguage() {
  const [language, setLanguage] = useState(spoken());
  speak(language);
  document.title = say('title');
  const isEnglish = language === 'en';
  return html`<button lang=${isEnglish ? 'zh-CN' : 'en'} onClick=${() => setLanguage(isEnglish ? 'zh' : 'en')}>${say('language')}</button>`;
}
