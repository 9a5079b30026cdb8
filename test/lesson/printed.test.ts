// What the pages show as printed is what the sources print: sentences that are quoted, and the runs on real servers, which nobody can play again.

import { expect, test } from 'vitest';
import { textsOf, VALUE } from './code-of.ts';
import { listDeep, readText } from './project-files.ts';

const folders = ['workshop', 'loadtest', 'scripts', 'prove', 'stack', 'simulation', 'services', 'locks'];
const files = folders.flatMap((folder) => listDeep(folder));
/** Of a scenario its sentences and what is said of its verdict; of a lock the lines that open it. */
const lines = files.flatMap((file) => {
  if (!/\.(ts|txt)$/.test(file)) return [];
  const prefix = file.endsWith('.txt') ? /^(> |if [a-z ]+: )?/ : /^\/\/ (Problem|Change): +/;
  return readText(file)
    .split('\n')
    .flatMap((line) => (prefix.test(line) ? line.replace(prefix, '') : []));
});
const sources = files.filter((file) => file.endsWith('.ts')).flatMap((file) => textsOf(readText(file)));
const sentencesOf = (text: string) => text.split(/(?<=[.?!]) /);
const printed = [...new Set([...sources, ...lines].flatMap((text) => [text, ...sentencesOf(text)]))];

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const wordsIn = (text: string) => text.match(/[a-z]{2,}/gi)?.length ?? 0;
/** A value has five words at most, so that no template is true of everything. `part`: what is in each sentence of this form. */
const forms = printed
  .filter((text) => wordsIn(text) >= 2)
  .map((text) => {
    const parts = text.split(VALUE);
    const [part = ''] = parts.toSorted((a, b) => b.length - a.length);
    const form = new RegExp(`^${parts.map(escaped).join('(\\S+( \\S+){0,4}?)?')}\\.?$`, 'i');
    return { part: part.toLowerCase(), form };
  });

/** Of whom something is told stands in a text of its own. */
const SUBJECT = /^(sale \d+ on )?node-\d /i;
const SALE = /sale \d+ on node-\d( \([^)]+\))?/g;

function isPrinted(sentence: string): boolean {
  if ([sentence, sentence.replace(SUBJECT, ''), sentence.replace(SALE, VALUE)].some(isText)) return true;
  // A step is told with what was seen, and a stage with its change.
  const [, first = '', rest] = /^(.+?)(?:: | {2})(.+)$/.exec(sentence) ?? [];
  return rest !== undefined && (isPrinted(first) || /^\S+( \d)? · \S+$/.test(first)) && isPrinted(rest);
}

function isText(sentence: string): boolean {
  const small = sentence.toLowerCase();
  if (forms.some(({ part, form }) => small.includes(part) && form.test(sentence))) return true;
  // A quotation may end early.
  const quoted = new RegExp(`^${sentence.split(VALUE).map(escaped).join('.+')}`, 'i');
  return sentence.includes(VALUE) && printed.some((text) => quoted.test(text));
}

const BLOCK = /^( *)```(\w*)[^\n]*\n(.*?)^\1```/gms;
const GENERATED = /<!-- (\w+): .*?<!-- \/\1 -->/gs;

/** Inline code that is a sentence, and all that a table of reasons quotes. */
function quotedIn(page: string): string[] {
  const prose = page.replace(BLOCK, '');
  const reasons = /^\| (?:reason|it says) .*\n\|[- |]+\n((?:\|.*\n)+)/gm;
  const cells = [...prose.matchAll(reasons)].flatMap(([, rows = '']) => rows.match(/^\| [^|]+/gm) ?? []);
  const codeIn = (text: string) => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  const sentences = codeIn(prose).filter((code) => /^[\p{Lu}…].*[.…]$/u.test(code) && code.split(' ').length > 3);
  return [...sentences, ...codeIn(cells.join('\n')).filter((code) => code.includes(' '))];
}

/** What a run has printed that is shown as it was: each sentence without its time, its sign and the name of its drill. */
function shownIn(page: string): string[] {
  return [...page.replace(GENERATED, '').matchAll(BLOCK)]
    .map(([, , , body = '']) => body)
    .filter((body) => /^ +(\d+\.\d\d s|✔|✘) {1,2}\S/m.test(body))
    .flatMap((body) => body.split('\n'))
    .map((line) => line.replace(/^ *(\d+\.\d\d s {2}|[✔✘] [a-z-]+ {2,}|(Problem|Change) +)?/, ''))
    .flatMap(sentencesOf)
    .filter((sentence) => sentence.endsWith('.') && wordsIn(sentence) > 4);
}

const pages = listDeep().filter((file) => file.endsWith('.md'));

test.each([
  { what: 'sentence that a page quotes', of: quotedIn, least: 1 },
  { what: 'sentence of a run that a page shows', of: shownIn, least: 5 },
])('printed: each $what is one that the sources print', ({ of, least }) => {
  const found = pages.flatMap((page) => of(readText(page)).map((sentence) => ({ page, sentence })));

  expect(found.filter(({ sentence }) => !isPrinted(sentence))).toEqual([]);
  expect(found.length).toBeGreaterThan(least);
});
