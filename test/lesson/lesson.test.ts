// What the lesson promises its reader: each file tells its part of the story, and each page says what the files and tables say.

import { expect, test } from 'vitest';
import { peerNames, rowOfPeer } from '../../loadtest/peers/peer.ts';
import { isCheck } from '../../loadtest/staircase/conformance.ts';
import { columnOf, rowOf, verdictExpected } from '../../loadtest/staircase/lookup.ts';
import * as registry from '../../locks/index.ts';
import { strategies as idempotency } from '../../services/inventory/orders/idempotency/index.ts';
import { refunds } from '../../services/inventory/orders/refunds/index.ts';
import { ways } from '../../services/inventory/sale/stores/index.ts';
import { readQuestions as questionsOfThePage } from '../../workshop/server/questions.ts';
import { stageDiff } from '../../workshop/teaching/stage-diff.ts';
import { exists, list, listDeep, readText, stages } from './project-files.ts';

const ORDERS = 'services/inventory/orders';
/** In each, a file has the name of a step. In a chain, a step begins with what the step before leaves. */
const courses = [
  { title: 'Stage', folder: 'locks', names: stages, isChain: true, longest: 50, chapter: 'docs/learn/*.md' },
  {
    ...{ title: 'Beyond', folder: 'locks/beyond', names: Object.keys(registry.beyond), isChain: false, longest: 130 },
    chapter: 'docs/beyond/*.md',
  },
  {
    ...{ title: 'Guard', folder: `${ORDERS}/jobs`, isChain: true, longest: 50, chapter: 'docs/orders/cleanup.md' },
    names: ['none', 'in-process', 'lock', 'close-first', 'conditional'],
  },
  {
    ...{ title: 'Report', folder: `${ORDERS}/report`, names: ['busy', 'in-slices'], isChain: true, longest: 20 },
    chapter: 'docs/orders/cleanup.md',
  },
  {
    ...{ title: 'Schedule', folder: `${ORDERS}/schedules`, isChain: true, longest: 40 },
    ...{ names: ['cron-overlap', 'fixed-rate', 'fixed-delay', 'cron'], chapter: 'docs/orders/cleanup.md' },
  },
  {
    ...{ title: 'Refund', folder: `${ORDERS}/refunds`, names: Object.keys(refunds), isChain: true, longest: 30 },
    chapter: 'docs/orders/idempotency.md',
  },
  {
    ...{ title: 'Idempotency', folder: `${ORDERS}/idempotency`, names: Object.keys(idempotency), isChain: true },
    ...{ longest: 90, chapter: 'docs/orders/idempotency.md' },
  },
  {
    ...{ title: 'Two stores', folder: 'services/inventory/sale/stores', names: Object.keys(ways), isChain: true },
    ...{ longest: 50, chapter: 'docs/orders/two-stores.md' },
  },
];
/** Files of `locks/beyond` that share a page, and which. A file that is not here has a page of its own name. */
const sharedPages: Record<string, string> = {
  'delete-if-equal': 'docs/learn/6-lua-release.md',
  bounded: 'docs/learn/8-auto-renew.md',
  'fenced-writes': 'docs/beyond/fenced.md',
  'mysql-lock-table': 'docs/beyond/mysql-locks.md',
  'mysql-named': 'docs/beyond/mysql-locks.md',
  'mysql-pessimistic': 'docs/beyond/mysql-rows.md',
  'mysql-optimistic': 'docs/beyond/mysql-rows.md',
  'mysql-conditional': 'docs/beyond/mysql-rows.md',
};

/** The page that explains the file: its own when there is one, else the page that it shares. */
function pageOf(name: string, pattern: string): string {
  const own = pattern.replace('*', name);
  return exists(own) ? own : (sharedPages[name] ?? own);
}

const HEADER =
  /^\/\/ (.+)\n\/\/ Problem: (\S.*\.)\n\/\/ Change: {2}\S.*\.\n\/\/ Leaves: {2}(\S.*\.)\n(?:\n|\/\/ Source: {2}\S)/;

function headerOf(text: string) {
  const [, title = '', problem = '', leaves = ''] = HEADER.exec(text) ?? [];
  return { title, problem, leaves };
}

/** What is promised of a name and not kept, as `name: what`. */
const unkept = (name: string, promises: Record<string, boolean>) =>
  Object.keys(promises).flatMap((what) => (promises[what] ? [] : [`${name}: ${what}`]));

test.each(courses)('$title: each file has its name, its problem, its change and what it leaves', (course) => {
  const { folder, names, title } = course;
  const texts = new Map(
    list(folder).map((file) => [file.replace('.ts', ''), file.endsWith('.ts') ? readText(`${folder}/${file}`) : '']),
  );
  const headed = [...texts.keys()].filter((name) => texts.get(name)?.startsWith(`// ${title} `));
  const textOf = (name = '') => texts.get(name) ?? '';
  const broken = names.flatMap((name, at) => {
    const { title: own, problem, leaves } = headerOf(textOf(name));
    const before = course.isChain && at > 0 ? headerOf(textOf(names[at - 1])).leaves : problem;
    const chapter = pageOf(name, course.chapter);
    const page = exists(chapter) ? readText(chapter) : '';
    return unkept(name, {
      'it opens with its name, its problem, its change and what it leaves':
        own.startsWith(`${title} `) && own.includes(name.replace(/^\d-/, '')),
      'its problem is what the one before leaves': problem === before,
      [`it has at most ${course.longest} lines`]: textOf(name).trimEnd().split('\n').length <= course.longest,
      // Stage 0 has no chapter: the next one begins with it.
      [`${chapter} quotes its problem and what it leaves`]:
        name === '0-none' || [problem, leaves].every((words) => page.includes(`\n> ${words}\n`)),
    });
  });

  expect(broken, 'what is not so').toEqual([]);
  expect(headed.toSorted()).toEqual(names.toSorted());
});

const isComment = (line: string) => /^\s*(\/\/|\/\*|\*)/.test(line);

/** How many lines of code a diff adds: neither blank, nor a comment, nor an import. */
const newCode = (diff: string) =>
  diff.split('\n').filter((line) => /^\+(?!\+\+ )\s*(?!import )\S/.test(line) && !isComment(line.slice(1))).length;

test('stages: each is whole in itself, has the shape of the others, and keeps its budget', () => {
  const broken = stages.flatMap((stage, number) => {
    const text = readText(`locks/${stage}.ts`);
    const body = text.split('\n').slice(5);
    const comments = body.filter((line, at) =>
      isComment(line) ? !isComment(body[at - 1] ?? '') : /\s\/\/\s|\/\*/.test(line),
    );
    const functions = [...text.matchAll(/^ {2}async function (\w+)/gm)].map(([, name]) => name).join();
    const exported = text.match(/^export .*/gm) ?? [];
    return unkept(stage, {
      'its number is its place': stage.startsWith(`${number}-`),
      'it has acquire, renew if it renews, and release, in this order':
        functions === (stage === '8-auto-renew' ? 'acquire,renew,release' : 'acquire,release'),
      'it exports createLock and nothing else':
        exported.length === 1 && /^export const createLock: CreateLock = /.test(exported[0]),
      'it imports no other stage': !/from '.*(\d|index).*'/.test(text),
      'it has at most two comments below its header': comments.length <= 2,
      'it adds at most 10 lines of code, stage 8 at most 20':
        number === 0 || newCode(stageDiff(number)) <= (number === 8 ? 20 : 10),
    });
  });

  expect(broken, 'what is not so').toEqual([]);
  expect(stages.length).toBe(9);
});

test('registry: it has what each file exports, under the name of the file', async () => {
  const waysOf = ({ createLock, createMultiLock, createReadLock, takeOne }: Record<string, unknown>) => ({
    ...{ createLock, createMultiLock, createReadLock, takeOne },
  });

  for (const [name, strategy] of Object.entries(registry.strategies)) {
    const isStage = stages.includes(name);
    const module = isStage ? await import(`../../locks/${name}.ts`) : await import(`../../locks/beyond/${name}.ts`);
    expect(waysOf({ ...strategy }), name).toEqual(waysOf(module));
  }
});

const libraries = peerNames.map(rowOfPeer);
const signs: Record<string, string> = { pass: '✔', fail: '✘' };

/** What is expected of the cell. Where nothing is, as of a library, what the page says of it; undefined when there is no such cell. */
function expectedSign(row: string, drill: string, says: string | undefined): string | undefined {
  const isRow = rowOf(row) !== undefined || libraries.includes(row);
  const isColumn = columnOf(drill) !== undefined || isCheck(drill);
  return isRow && isColumn ? (signs[verdictExpected(row, drill) ?? ''] ?? says) : undefined;
}

/** The number of the right answer to a question of the live page. */
function numberOf(row: string, drill: string): string | undefined {
  const answers = questionsOfThePage()[row]?.find((question) => question.drill === drill)?.answers ?? [];
  const right = answers.findIndex(({ isRight }) => isRight);
  return right === -1 ? undefined : `**${right + 1}**`;
}

/** The cells that a text names, such as `4-ttl · slow-holder` ✘, each with what it says of them, and what it should say. */
const cellsIn = (text: string) =>
  [...text.matchAll(/`([\w@.-]+) · ([\w-]+)`(?: (✔|✘|–|\*\*[1-4]\*\*))?/g)]
    .filter(([, row = '']) => !/^(row|stage)$/.test(row))
    .map(([, row = '', drill = '', says]) => ({
      ...{ cell: `${row} · ${drill}`, says },
      expected: says?.startsWith('**') ? numberOf(row, drill) : expectedSign(row, drill, says),
    }));

test('cells: each that a page names as a proof is there, and has the sign or the number that the page gives it', () => {
  const pages = listDeep().filter(
    (file) => file.endsWith('.md') && !['CONTRIBUTING.md', 'docs/contribute/change.md'].includes(file),
  );
  const cells = pages.flatMap((page) => cellsIn(readText(page)).map((cell) => ({ page, ...cell })));

  expect(cells.filter(({ says, expected }) => says === undefined || says !== expected)).toEqual([]);
  expect(cells.length).toBeGreaterThan(100);
});
