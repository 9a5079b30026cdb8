import { beforeAll, expect, test } from 'vitest';
import { bucketCounts, contestants, httpContestants } from '../../loadtest/bench/contestants.ts';
import { drillsOf, rowsOf } from '../../loadtest/run/tracks.ts';
import { checkNames } from '../../loadtest/staircase/conformance.ts';
import { lockName } from '../../locks/index.ts';
import { helpsOf } from '../../scripts/command-line/helps.ts';
import { catalogue } from '../mutations/catalogue.ts';
import { commandLinesOf } from './markdown.ts';
import { exists, listDeep, readText } from './project-files.ts';

const pages = listDeep().filter((file) => file.endsWith('.md'));
const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };
const shellFileOf = (name: string) => `scripts/${name.replace(':', '-')}.sh`;
/** The file that each npm script runs, where it is one of TypeScript. */
const files = new Map(
  Object.keys(scripts).flatMap((name) => {
    const file = name === 'mutations' ? 'test/mutations/mutations.ts' : `scripts/${name}.ts`;
    return exists(file) ? [[name, file] as const] : [];
  }),
);
/** They read their command line themselves, and have no `--help`. */
const WITHOUT_HELP = [...files]
  .filter(([, file]) => !/from 'commander'|command-line\/(command|\w+-options|run-\w+)\.ts'/.test(readText(file)))
  .map(([name]) => name);
/** A start of Node that would print its warning of WASI, in which Valkey runs. */
const WARNS = /\bnode (?!--disable-warning=ExperimentalWarning )/;
/** What the orders call their rows and drills: `--help` names them only behind `--track orders`. */
const OF_ORDERS = [...rowsOf('orders'), ...drillsOf('orders').map(({ name }) => name)];
/** `--help` of the bench and of the mutations does not list these. */
const UNLISTED = [...contestants, ...httpContestants, ...bucketCounts, ...catalogue, ...drillsOf('locks')]
  .map(({ name }) => name)
  .concat(checkNames);
const OF_THE_PROJECT =
  /^(\.\/)?(\.env\.example|(docs|loadtest|locks|lua|nginx|prove|scripts|services|simulation|stack|test|workshop)\/[\w./-]+)$/;
/** What each command says of its flags: by its own `--help`, or by its source where it has none. */
const says = new Map<string, string>();

beforeAll(async () => {
  const asked = [...files].filter(([name]) => !WITHOUT_HELP.includes(name)).map(([, file]) => file);
  const helps = await helpsOf(asked);
  for (const [name, file] of files) says.set(name, helps[file] ?? readText(file));
});

/** The parts of a command line, each as its words; what stands in quotes is one word. */
function partsOf(line: string): string[][] {
  const words = line.match(/"[^"]*"|'[^']*'|\|\||&&|[;|&]|(?:[^\s"';|&]|"[^"]*"|'[^']*')+/g) ?? [];
  const parts: string[][] = [[]];
  for (const word of words) {
    if (/^(\|\||&&|[;|&])$/.test(word)) parts.push([]);
    else parts.at(-1)?.push(word);
  }
  return parts.filter((part) => part.length > 0);
}

/** What is wrong with a command line of a page: a script, a flag, a name or a file that does not exist. */
function faultsIn(line: string): string[] {
  return partsOf(line).flatMap((part) => {
    const words = part.slice(part.findIndex((word) => !/^[A-Z_0-9]+=/.test(word)));
    const missing = words.filter((word) => OF_THE_PROJECT.test(word) && !exists(word));
    return [
      ...missing.map((word) => `there is no file ${word}`),
      ...(words[0] === 'npm' ? faultsOfNpm(words.slice(1)) : []),
    ];
  });
}

function faultsOfNpm([verb = '', ...words]: string[]): string[] {
  if (!/^(run|start|test)$/.test(verb)) return [];
  const name = verb === 'run' ? (words.shift() ?? '') : verb;
  if (!/^[a-z][\w:-]*$/.test(name)) return [];
  if (scripts[name] === undefined) return [`there is no npm script ${name}`];
  const from = words.indexOf('--');
  const given = from === -1 ? [] : words.slice(from + 1);
  const own = from === -1 ? words : words.slice(0, from);
  const lost = own.filter((word) => word.startsWith('--') && word !== '--silent');
  const isWithoutRows = name === 'drill' && given.length > 0 && !/--help|--sentences|[<…]/.test(given.join(' '));
  return [
    ...(isWithoutRows && !given.includes('--stage') ? ['npm run drill needs --stage'] : []),
    ...lost.map((flag) => `npm takes ${flag} for itself: it stands before --`),
    ...given.flatMap((word, index) => faultOfWord(name, word, given[index - 1])),
  ];
}

function faultOfWord(name: string, word: string, before = ''): string[] {
  const known = says.get(name) ?? '';
  const isFlag = word.startsWith('--');
  const [flag = '', value] = word.split('=');
  if (isFlag) {
    const isKnown = flag === '--help' || new RegExp(`(^|[\\s,'"\`])${flag}(?![\\w-])`).test(known);
    return isKnown ? (value === undefined ? [] : faultOfWord(name, value, flag)) : [`npm run ${name} has no ${flag}`];
  }
  // What is a path, a number, an address or a placeholder names nothing of the project.
  if (/^(new|url|lab|reports|compare|take)$/.test(before.slice(2)) || /[<…/$.*"'{]/.test(word)) return [];
  const isName = (part: string) =>
    /^\d+$/.test(part) ||
    lockName(part) !== undefined ||
    OF_ORDERS.includes(part) ||
    (/^--(only|drill)$/.test(before) && UNLISTED.includes(part)) ||
    new RegExp(`(^|[^\\w-])${part.replace(/[^\w-]/g, '\\$&')}(?![\\w-])`).test(known);
  return word
    .split(',')
    .filter((part) => !isName(part))
    .map((part) => `npm run ${name} knows no ${part}`);
}

test('commands: every script, flag, name and file that a page names exists', () => {
  const faults = pages.flatMap((page) =>
    commandLinesOf(readText(page)).flatMap((line) => faultsIn(line).map((fault) => `${page}: ${line}: ${fault}`)),
  );

  expect(faults).toEqual([]);
});

test('commands: each is a file of its name in scripts/, and stands with each of its flags on a page', () => {
  const texts = pages.map(readText);
  const faults = Object.entries(scripts).flatMap(([name, line]) => {
    const command = /^(start|test)$/.test(name) ? `npm ${name}` : `npm run ${name}`;
    const those = texts.filter((text) => text.includes(command));
    const flag = WITHOUT_HELP.includes(name) ? /'(--[a-z][\w-]*)'/g : /^ +(?:-\w, )?(--[a-z][\w-]*)/gm;
    const flags = name === 'pictures' ? [] : [...(says.get(name) ?? '').matchAll(flag)].map(([, each = '']) => each);
    const untold = flags.filter((each) => !those.some((text) => new RegExp(`${each}(?![\\w-])`).test(text)));
    return [
      ...(line === `sh scripts/run.sh ${name.replace(':', '-')}` ? [] : ['it is not run as the others are']),
      ...(exists(files.get(name) ?? shellFileOf(name)) ? [] : ['its file does not exist']),
      ...(WARNS.test(readText(exists(shellFileOf(name)) ? shellFileOf(name) : 'scripts/run.sh'))
        ? ['Node warns of its WASI before the first line']
        : []),
      ...(those.length > 0 ? [] : ['no page says how to call it']),
      ...untold.filter((each) => each !== '--help').map((each) => `no page that shows it has ${each}`),
    ].map((fault) => `${command}: ${fault}`);
  });

  expect(faults).toEqual([]);
  expect(WITHOUT_HELP.toSorted()).toEqual(['diff', 'down', 'pictures', 'reconcile']);
});
