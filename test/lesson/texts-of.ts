// What a source may print: the texts of its strings and templates.

import { codeOf } from './code-of.ts';

/** Stands for a value in a template. */
export const VALUE = '…';

/** The texts in TypeScript, each template with its values left out. Those inside of a value are texts of their own. */
export function textsOf(source: string): string[] {
  const code = codeOf(source);
  const texts: string[] = [];
  for (let at = 0; at < code.length; at += 1) if (isQuote(at)) at = take(at);
  return texts;

  function isQuote(at: number) {
    return code[at] === "'" || code[at] === '`';
  }

  /** Takes the text that begins here. Returns where it ends. */
  function take(from: number): number {
    let text = '';
    let at = from + 1;
    for (; at < code.length && code[at] !== code[from]; at += 1) {
      const isValue = code[from] === '`' && code.startsWith('${', at);
      text += isValue ? VALUE : source[at];
      if (isValue) at = passValue(at + 2);
    }
    texts.push(text.replaceAll("\\'", "'"));
    return at;
  }

  /** Returns where the value that begins here has its closing brace. */
  function passValue(from: number): number {
    let depth = 1;
    for (let at = from; at < code.length; at += 1) {
      if (isQuote(at)) at = take(at);
      else if (code[at] === '{') depth += 1;
      else if (code[at] === '}') depth -= 1;
      if (depth === 0) return at;
    }
    return code.length;
  }
}
