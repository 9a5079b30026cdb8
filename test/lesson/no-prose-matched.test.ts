import { parser } from '@lezer/javascript';
import { expect, test } from 'vitest';
import { listDeep, readText } from './project-files.ts';

const typescript = parser.configure({ dialect: 'ts' });
/** What reads a text by its words. */
const READERS =
  /\.(startsWith|endsWith|includes|indexOf|lastIndexOf|split|replace|replaceAll|match|matchAll|search)\(\s*$/;
/** Two words in a row: prose. */
const isProse = (text: string) => /[A-Za-z]{2,}[,.:']? [A-Za-z(]{2,}/.test(text);

/** Where a file reads a text by the words that are in it: `file:line: the words`. */
function proseReadIn(file: string): string[] {
  const text = readText(file);
  const found: string[] = [];
  typescript.parse(text).iterate({
    enter({ type: { name }, from, to }) {
      const isRead = name === 'RegExp' || (name === 'String' && READERS.test(text.slice(Math.max(0, from - 20), from)));
      const words = text.slice(from, to);
      if (isRead && isProse(words)) found.push(`${file}:${text.slice(0, from).split('\n').length}: ${words}`);
    },
  });
  return found;
}

test('x', () => {
  const files = listDeep().filter((f) =>
    /^(loadtest|live|teaching|exercises|prove|virtual|services|locks|scripts)\/.*\.ts$/.test(f),
  );
  console.log(files.flatMap(proseReadIn).join('\n'));
  expect(1).toBe(1);
});
