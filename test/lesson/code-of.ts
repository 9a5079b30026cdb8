// TypeScript without its words, and its words alone: what a check of patterns may read without taking a sentence for a call.

import { parser } from '@lezer/javascript';

const typescript = parser.configure({ dialect: 'ts' });
/** Stands for a value in a template. */
export const VALUE = '…';
type Range = [from: number, to: number];

/** Where the words of a text are: of each string, template and regular expression, in parts where it has values, and of comments. */
function wordsIn(source: string) {
  const [comments, texts]: [Range[], Range[][]] = [[], []];
  typescript.parse(source).iterate({
    enter({ type: { name }, node, from, to }) {
      if (/Comment$/.test(name)) comments.push([from, to]);
      if (!/^(String|TemplateString|RegExp)$/.test(name)) return;
      const values = node.getChildren('Interpolation');
      const [starts, ends] = [values.map((value) => value.to), values.map((value) => value.from)];
      texts.push([from + 1, ...starts].map((start, at) => [start, ends[at] ?? to - 1]));
    },
  });
  return { comments, texts };
}

/** The text with blanks in the place of comments, strings, templates and regular expressions; every line keeps its number. */
export function codeOf(source: string): string {
  const { comments, texts } = wordsIn(source);
  const blank = (text: string) => text.replace(/[^\n]/g, ' ');
  return [...comments, ...texts.flat()].reduce(
    (code, [from, to]) => code.slice(0, from) + blank(code.slice(from, to)) + code.slice(to),
    source,
  );
}

/** The texts in TypeScript, each template with its values left out. Those inside of a value are texts of their own. */
export const textsOf = (source: string) =>
  wordsIn(source).texts.map((parts) =>
    parts
      .map(([from, to]) => source.slice(from, to))
      .join(VALUE)
      .replaceAll("\\'", "'"),
  );
