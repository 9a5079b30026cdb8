// The texts of the live page, each word a third longer: so a page is seen in a language with longer words.

import { texts as english, savedTexts as englishSaved } from '../../../live/texts/en.ts';

/** A word goes on with its own letters: `Step by step` is `Stepst byb stepst`. What is no word stays. */
export const lengthened = (text: string) =>
  text.replace(/\p{L}{2,}/gu, (word) => `${word}${word.toLowerCase().slice(0, Math.ceil(word.length * 0.3))}`);

/** The names among what a text is made with, such as `node-1` or `Stage 4 · ttl`. */
function namesIn(value: unknown): string[] {
  if (typeof value === 'string') return /[\d·-]/.test(value) ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(namesIn) : [];
}

/** No language has other names, so they stay. */
function lengthenedAround(names: string[], text: string): string {
  const [name, ...others] = names.toSorted((one, other) => other.length - one.length);
  if (name === undefined) return lengthened(text);
  return text
    .split(name)
    .map((part) => lengthenedAround(others, part))
    .join(name);
}

function longer(value: unknown, names: string[] = []): unknown {
  if (typeof value === 'string') return lengthenedAround(names, value);
  if (typeof value === 'function') return (...args: unknown[]) => longer(value(...args), namesIn(args));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, longer(member)]));
}

export const texts = longer(english);
export const savedTexts = longer(englishSaved);
