// The commands: what each prints for --help, with the options that several share written once.

import { join } from 'node:path';
import { callOf } from '../../stack/call-of.ts';
import { projectDir } from '../../stack/parts.ts';
import { helpsOf } from '../command-line/helps.ts';
import commands from '../commands.json' with { type: 'json' };
import { capitalized, codeOf } from './markdown.ts';

/** What these take, which read their command line themselves. */
const WITHOUT_HELP: Record<string, string> = { down: '', diff: '<stage>', reconcile: '[--repair]', pictures: '' };
/** Commands for few readers, whose options are only named. */
const EXPLAINED_BY_HELP = ['bench', 'mutations'];
const SHARED = '`npm start` and `npm run staircase` take these. Parentheses name the other commands that do.';
/** A list of seven names or more. It is cut after the third: other pages have them all. */
const LONG_LIST = /((?:"?[\w:-]+"?, ){3})(?:"?[\w:-]+"?, ){3,}"?[\w:-]+"?/g;

/** The usage line of a command, what it does, and its arguments and options: each with what it does. */
interface Help {
  usage: string;
  says: string;
  rows: Row[];
}

type Row = [name: string, says: string];

function helpIn(text: string): Help {
  const [usage = '', says = '', ...sections] = text.trim().split('\n\n');
  const rows = sections
    .filter((section) => /^(Arguments|Options|Commands):\n/.test(section))
    .flatMap((section) => section.split('\n').slice(1))
    .flatMap((line): Row[] => {
      const [, name = '', does = ''] = /^ {2}(\S.*?) {2,}(.+)$/.exec(line) ?? [];
      return name === '' || name.startsWith('-h') ? [] : [[name, shortened(does)]];
    });
  return { usage: usage.replace(/^Usage: /, '').replace(/( --)? \[options\]$| \[options\]/, ''), says, rows };
}

function shortened(text: string): string {
  return text
    .replaceAll(join(projectDir, 'reports'), 'reports')
    .replace(' (default: false)', '')
    .replace('(default: "reports")', '(reports)')
    .replace(LONG_LIST, '$1…');
}

const lineOf = ([name, does]: Row, takers = '') => `- ${codeOf(name)}${takers && ` (${takers})`}: ${does}`;

/** The commands that take an option, beside `npm start` and the staircase, which take nearly all. */
function takersTold(names: string[]): string {
  const others = names.filter((name) => !['start', 'staircase'].includes(name));
  if (names.length - others.length < 2) return `only ${names.join(', ')}`;
  return others.length > 0 ? `also ${others.join(', ')}` : '';
}

/** First the options that several commands have, then each command with what it takes besides, and those that take nothing else. */
export async function commandLine(): Promise<string> {
  const names = Object.keys(commands).filter((name) => !Object.hasOwn(WITHOUT_HELP, name));
  const fileOf = (name: string) => (name === 'mutations' ? 'test/mutations/mutations.ts' : `scripts/${name}.ts`);
  const texts = await helpsOf([...names, 'mutations'].map(fileOf));
  const helps = [...names, 'mutations'].map((name) => ({ name, ...helpOf(texts[fileOf(name)] ?? '') }));
  const takersOf = (row: Row) =>
    helps.filter(({ rows }) => rows.some((other) => lineOf(other) === lineOf(row))).map(({ name }) => name);
  const isShared = (row: Row) => takersOf(row).length > 1;
  const shared = helps.flatMap(({ rows }) =>
    rows.filter(isShared).map((row) => lineOf(row, takersTold(takersOf(row)))),
  );

  const own = helps.map(({ rows, ...help }) => ({ ...help, rows: rows.filter((row) => !isShared(row)) }));
  const others = Object.entries(WITHOUT_HELP).map(([name, takes]) => ({
    ...{ name, usage: callOf(name), takes, says: commands[name as keyof typeof commands], rows: [] },
  }));
  const sections = own.filter(({ rows }) => rows.length > 0).map(sectionOf);
  const order = Object.keys(commands);
  const lines = [...own.filter(({ rows }) => rows.length === 0).map((help) => ({ ...help, takes: '' })), ...others]
    .toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    .map(({ usage, takes, says }) => `- ${codeOf(usage)}${takes && ` ${codeOf(takes)}`}: ${capitalized(says)}`);
  return [
    ...['### Options that several commands take', SHARED, [...new Set(shared)].join('\n')],
    ...sections,
    ...['### Without options of their own', lines.join('\n')],
  ].join('\n\n');
}

function sectionOf({ name, usage, says, rows }: Help & { name: string }): string {
  const options = EXPLAINED_BY_HELP.includes(name)
    ? `Options, which \`--help\` explains: ${rows.map(([flags]) => codeOf(flags.split(' ')[0] ?? '')).join(', ')}.`
    : rows.map((row) => lineOf(row)).join('\n');
  return [`### ${usage}`, capitalized(says), options].join('\n\n');
}

/** The help of a command, with what the commands below it take besides. */
function helpOf(text: string): Help {
  const [main, ...below] = text.split(/^(?=Usage: )/m).map(helpIn) as [Help, ...Help[]];
  const options = below.flatMap(({ usage, rows }) =>
    rows.filter(([name]) => name.startsWith('--')).map(([name, does]): Row => [`${usage.split(' ')[4]} ${name}`, does]),
  );
  return { ...main, rows: [...main.rows, ...options] };
}
