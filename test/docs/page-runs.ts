// What is run of a page: its command lines one by one, and what is typed by hand beside `npm run up` as the lines of one shell.

import { commandsOf } from '../lesson/markdown.ts';
import { listDeep, readText } from '../lesson/project-files.ts';

export interface PageRun {
  /** How the page starts the stack that runs in another terminal meanwhile. */
  stack?: string;
  /** A command, or all that is typed by hand beside that stack, line by line. */
  command: string;
}

/** Each of their lines is run by a test, which compares the answers as well: test/lesson/ten-minutes.test.ts. */
export const comparedByATest = ['docs/redis.md', 'docs/lua.md'];

export const pages = listDeep().filter((file) => file.endsWith('.md') && !comparedByATest.includes(file));

const SETTINGS = String.raw`(\w+=('[^']*'|[^\s'])* )*`;
/** It starts a stack, and goes on until it is ended. */
const STARTS_A_STACK = new RegExp(`^${SETTINGS}npm run up$`);
/** It stands for itself. Everything else is typed by hand, and later lines need what earlier ones have done. */
const STANDS_ALONE = new RegExp(`^${SETTINGS}(npm|npx|node|docker|diff|gzip|tar|cd|curl -N) `);
/** It says how a command is written, and is none. */
const IS_A_FORM = /<\w+>|…/;
/** What asks a stack that is up, and which one it needs. */
const STACK_OF: [RegExp, string][] = [
  [/^npm run down$|--url http|^curl /, 'npm run up'],
  [/^npm run reconcile/, 'ORDERS=on npm run up'],
  // It takes the ports of node-1, and a Redis on its default port.
  [/main\.ts$/, 'REDIS_PORT=6379 NODE_1_PORT=17777 NODE_1_LAB_PORT=17778 npm run up'],
];

/** Where docs/commands.md lists what is not run. */
const LEFT_OUT = /^## Commands that no test runs$.*?(?=^## |(?![\s\S]))/ms;

export const withoutLeftOut = (page: string) => page.replace(LEFT_OUT, '');

/** All that there is to run of a page, in its order. */
export function runsOf(page: string): PageRun[] {
  const runs: PageRun[] = [];
  let stack: string | undefined;
  let byHand: PageRun | undefined;
  for (const { isInline, lines } of commandsOf(withoutLeftOut(page))) {
    const alone = lines.filter((line) => STANDS_ALONE.test(line));
    const typed = lines.filter((line) => !alone.includes(line));
    if (!isInline && typed.length > 0 && !typed.some((line) => line.startsWith('curl -N'))) {
      if (byHand === undefined) {
        const run = { ...(stack === undefined ? {} : { stack }), command: lines.join('\n') };
        runs.push(run);
        if (stack !== undefined) byHand = run;
      } else byHand.command += `\n${lines.join('\n')}`;
      continue;
    }
    for (const line of lines.filter((each) => !IS_A_FORM.test(each))) {
      if (!STARTS_A_STACK.test(line)) {
        const [, needed] = STACK_OF.find(([asks]) => asks.test(line)) ?? [];
        runs.push({ ...(needed === undefined ? {} : { stack: needed }), command: line });
      } else if (!isInline || stack === undefined || line !== 'npm run up') {
        [stack, byHand] = [line, undefined];
        runs.push({ command: line });
      }
    }
  }
  // A stack that something is typed beside is started with it.
  return runs.filter(({ command }) => !runs.some((other) => other.stack === command));
}

/** An answer of the shop or of Redis, as it is printed to a line by hand. */
const IS_AN_ANSWER = /^(\{"(outcome|sku|title)"|-?\d+$)/;

export const answersIn = (output: string) => output.split(/\r?\n/).filter((line) => IS_AN_ANSWER.test(line));

/** The answers that a page shows, in its blocks of plain text. */
export function answersShownOn(page: string): string[] {
  return [...page.matchAll(/^```text\n(.*?)^```$/gms)].flatMap(([, text = '']) => answersIn(text));
}

/** Whether the page shows this answer so: long ones are cut at …, and its numbers are those of another run. */
export function isShownAs(shown: string, answer: string): boolean {
  const parts = shown
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/\d+/g, '\\d+'));
  return new RegExp(`^${parts.join('.*')}$`).test(answer);
}

/** Two pages that say the same share a run. */
export const keyOf = ({ stack, command }: PageRun) => (stack === undefined ? command : `${stack} & ${command}`);

export interface LeftOut {
  /** A command, or how it begins. */
  command: string;
  isBeginning: boolean;
  why: string;
}

/** The commands that no test runs, as docs/commands.md lists them. One that ends with … stands for all that begin so. */
export function readLeftOut(): LeftOut[] {
  const [section = ''] = LEFT_OUT.exec(readText('docs/commands.md')) ?? [];
  return [...section.matchAll(/^\| (`.+`) +\| (.+?) +\|$/gm)].flatMap(([, commands = '', why = '']) =>
    [...commands.matchAll(/`([^`]+)`/g)].map(([, command = '']) => ({
      command: command.replace(/ ?…$/, ''),
      isBeginning: command.endsWith('…'),
      why,
    })),
  );
}

export function leavesOut({ command, isBeginning }: LeftOut, run: PageRun): boolean {
  return isBeginning ? run.command.startsWith(command) : run.command === command;
}
