// The texts of the live page, each word a third longer: so a page is seen in a language with longer words.

import { texts as english } from '../../live/texts/en.ts';

/** A word goes on with its own letters: `Step by step` is `Stepst byb stepst`. What is no word stays. */
export const lengthened = (text: string) =>
  text.replace(/\p{L}{2,}/gu, (word) => `${word}${word.toLowerCase().slice(0, Math.ceil(word.length * 0.3))}`);

function longer(value: unknown): unknown {
  if (typeof value === 'string') return lengthened(value);
  if (typeof value === 'function') return (...args: unknown[]) => longer(value(...args));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, longer(member)]));
}

export const texts = longer(english);
