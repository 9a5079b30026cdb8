// What the model checker says, in the language that is spoken.

import type { Step } from '../../prove/state.ts';
import { inEnglish, type SearchSentence, says, saysOfScope } from '../../prove/wording.ts';
import { inChinese } from '../../prove/wording.zh.ts';
import { numbered } from '../../prove/words.ts';
import { isChinese } from '../narration/spoken.ts';

export const searchSaid = (sentence: SearchSentence) => (isChinese() ? inChinese(sentence) : inEnglish(sentence));

/** What may go wrong in a scope; `english`, where it has no sentence of its own. */
export function scopeSaid(name: string, english: string): string {
  const sentence = saysOfScope(name);
  return sentence === undefined ? english : searchSaid(sentence);
}

/** A line for each step, as `numbered` makes them. */
export function stepsSaid(steps: Step[], line = (start: string, text: string) => start + text): string[] {
  if (!isChinese()) return numbered(steps, line);
  const width = String(steps.length).length;
  return steps.map(({ at, process, what, reply, told }, index) => {
    const start = `${String(index + 1).padStart(width)}. ${String(at).padStart(5)} 毫秒  `;
    const made = { process, what, came: told };
    return line(
      start,
      inChinese(reply === undefined ? says('made', made) : says('made, with a reply', { ...made, reply })),
    );
  });
}
