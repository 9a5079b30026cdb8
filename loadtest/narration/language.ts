// The language that is spoken: on the page the one that it has chosen, in a command the one that --lang or the locale names.

export const languages = ['en', 'zh'] as const;
export type Language = (typeof languages)[number];
/** A text in English and in Chinese. `{name}` stands for a value. */
export type Both = readonly [en: string, zh: string];
export type Values = Record<string, string | number>;

let language: Language = 'en';

export const spoken = () => language;

export function speak(chosen: Language) {
  language = chosen;
}

/** What is made while another language is spoken. */
export function speaking<Made>(chosen: Language, make: () => Made): Made {
  const before = language;
  language = chosen;
  try {
    return make();
  } finally {
    language = before;
  }
}

/** A text in the language that is spoken. */
export const inLanguage = (both: Both, values: Values = {}) => filled(both[languages.indexOf(language)] ?? '', values);
export const filled = (text: string, values: Values) =>
  text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ''));
