// TypeScript without its words: what a check of patterns may read without taking a sentence for a call.

/** After these a slash begins a regular expression. */
const BEFORE_PATTERN = /(^|[(,=:[!&|?{};+\-*%<>~^]|\b(return|typeof|case|await|of|in|yield))\s*$/;
const PLAIN = /[^/'"`{}]+/y;
const PIECES = [/\/\/[^\n]*/y, /\/\*.*?\*\//sy, /'(?:[^'\\\n]|\\.)*'/sy, /"(?:[^"\\\n]|\\.)*"/sy];
const PATTERN = /\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const TEMPLATE_WORDS = /(?:[^`\\$]|\\.|\$(?!\{))*/sy;

/** The text with blanks in the place of comments, strings, templates and regular expressions; every line keeps its number. */
export function codeOf(text: string): string {
  let [code, at] = ['', 0];
  /** How many braces are open in each template that the place is in. */
  const templates: number[] = [];

  while (at < text.length) {
    PLAIN.lastIndex = at;
    const [plain = ''] = PLAIN.exec(text) ?? [];
    code += plain;
    at += plain.length;
    if (PIECES.some(take) || (text[at] === '/' && BEFORE_PATTERN.test(code.slice(-200)) && take(PATTERN))) continue;
    const sign = text[at] ?? '';
    const isEnd = sign === '}' && templates.at(-1) === 0;
    if (sign === '{' && templates.length > 0) templates.push((templates.pop() ?? 0) + 1);
    if (sign === '}' && !isEnd && templates.length > 0) templates.push((templates.pop() ?? 0) - 1);
    at += 1;
    code += sign;
    if (isEnd) templates.pop();
    if (isEnd || sign === '`') takeTemplate();
  }
  return code;

  function take(piece: RegExp): boolean {
    piece.lastIndex = at;
    const [taken = ''] = piece.exec(text) ?? [];
    // What a string leaves is still a value: a slash behind it divides.
    const isComment = taken.startsWith('//') || taken.startsWith('/*');
    code += isComment || taken === '' ? blank(taken) : `'${blank(taken.slice(2))}'`;
    at += taken.length;
    return taken !== '';
  }

  /** The words of a template, up to its end or to the next value in it. */
  function takeTemplate() {
    TEMPLATE_WORDS.lastIndex = at;
    const [words = ''] = TEMPLATE_WORDS.exec(text) ?? [];
    code += blank(words);
    at += words.length;
    if (text.startsWith('${', at)) {
      templates.push(0);
      code += '${';
      at += 2;
    } else {
      code += text.slice(at, at + 1);
      at += 1;
    }
  }
}

const blank = (text: string) => text.replace(/[^\n]/g, ' ');
