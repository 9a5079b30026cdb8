// The commands: what each prints for --help, with the options that several share written once.

import { join } from 'node:path';
import { callOf } from '../../stack/call-of.ts';
import { projectDir } from '../../stack/parts.ts';
import { helpsOf } from '../command-line/helps.ts';
import commands from '../commands.json' with { type: 'json' };
import { capitalized, codeOf } from './markdown.ts';

/** What these take, which read their command line themselves. */
const WITHOUT_HELP: Record<string, string> = { down: '', diff: '<stage>', reconcile: '[--repair]', pictures: '' };
/** A list of seven names or more. It is cut after the third: other pages have them all. */
const LONG_LIST = /((?:"?[\w:-]+"?, ){3})(?:"?[\w:-]+"?, ){3,}"?[\w:-]+"?/g;

/** The usage line of a command, what it does, and its arguments and options: each with what it does. */
interface Help {
  usage: string;
  says: string;
  rows: [name: string, says: string][];
}

function helpIn(text: string): Help {
  const [usage = '', says = '', ...sections] = text.trim().split('\n\n');
  const rows = sections
    .filter((section) => /^(Arguments|Options|Commands):\n/.test(section))
    .flatMap((section) => section.split('\n').slice(1))
    .flatMap((line): Help['rows'] => {
      const [, name = '', does = ''] = /^ {2}(\S.*?) {2,}(.+)$/.exec(line) ?? [];
      return name === '' || name.startsWith('-h') ? [] : [[name, shortened(does)]];
    });
  return { usage: usage.replace(/^Usage: /, '').replace(/ \[options\]/, ''), says, rows };
}

function shortened(text: string): string {
  return text
    .replaceAll(join(projectDir, 'reports'), 'reports')
    .replace(' (default: false)', '')
    .replace('(default: "reports")', '(reports)')
    .replace(LONG_LIST, '$1…');
}

const lineOf = ([name, does]: Help['rows'][number]) => `- ${codeOf(name)}: ${does}`;

/** Every command: first the options that several have, then what each does and takes besides. */
export async function commandLine(): Promise<string> {
  const names = Object.keys(commands).filter((name) => !Object.hasOwn(WITHOUT_HELP, name));
  const fileOf = (name: string) => (name === 'mutations' ? 'test/mutations/mutations.ts' : `scripts/${name}.ts`);
  const texts = await helpsOf([...names, 'mutations'].map(fileOf));
  const helps = [...names, 'mutations'].map((name) => helpOf(texts[fileOf(name)] ?? ''));
  const lines = helps.flatMap(({ rows }) => rows.map(lineOf));
  const isShared = (row: Help['rows'][number]) => lines.filter((line) => line === lineOf(row)).length > 1;
  const shared = [...new Set(helps.flatMap(({ rows }) => rows.filter(isShared).map(lineOf)))];

  const sectionOf = ({ usage, says, rows }: Help) => {
    const also = rows.filter(isShared).map(([name]) => codeOf(name.split(' ')[0] ?? ''));
    const own = rows.filter((row) => !isShared(row)).map(lineOf);
    if (also.length > 0) own.push(`- ${also.join(', ')}`);
    return [`### ${usage.replace(/ --$/, '')}`, capitalized(says), own.join('\n')].filter(Boolean).join('\n\n');
  };
  const others = Object.entries(WITHOUT_HELP).map(([name, takes]) => ({
    ...{ usage: callOf(name, takes), says: commands[name as keyof typeof commands], rows: [] },
  }));
  const sections = [...helps, ...others].map(sectionOf);
  return ['### Options that several commands take', shared.join('\n'), ...sections].join('\n\n');
}

/** The help of a command, with what the commands below it take besides. */
function helpOf(text: string): Help {
  const [main, ...below] = text.split(/^(?=Usage: )/m).map(helpIn) as [Help, ...Help[]];
  const options = below.flatMap(({ usage, rows }) =>
    rows
      .filter(([name]) => name.startsWith('--'))
      .map(([name, does]): Help['rows'][number] => [`${usage.split(' ')[4]} ${name}`, does]),
  );
  return { ...main, rows: [...main.rows, ...options] };
}
