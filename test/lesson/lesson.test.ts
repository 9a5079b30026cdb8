// What the lesson promises its reader: each file tells its part of the story, and each page says what the files and tables say.

import { expect, test } from 'vitest';
import { readQuestions as questionsOfThePage } from '../../live/questions.ts';
import { readRecord } from '../../loadtest/figures/record.ts';
import { columnOf, rowOf, taughtVerdict } from '../../loadtest/staircase/lookup.ts';
import * as registry from '../../locks/index.ts';
import { stageDiff } from '../../scripts/diff.ts';
import { readQuestions, shown, withQuestions } from '../../scripts/questions.ts';
import { strategies as idempotency } from '../../services/inventory/orders/idempotency/index.ts';
import { exists, list, listDeep, readText, stages } from './project-files.ts';

const ORDERS = 'services/inventory/orders';
/** In each, a file has the name of a step. In a chain, a step begins with what the step before leaves. */
const courses = [
  { title: 'Stage', folder: 'locks', names: stages, isChain: true, longest: 50, chapter: 'docs/stages/*.md' },
  {
    ...{ title: 'Beyond', folder: 'locks/beyond', names: Object.keys(registry.beyond), isChain: false, longest: 130 },
    chapter: 'docs/beyond/*.md',
  },
  {
    ...{ title: 'Guard', folder: `${ORDERS}/jobs`, isChain: true, longest: 50, chapter: 'docs/orders/cleanup.md' },
    names: ['none', 'in-process', 'lock', 'conditional'],
  },
  {
    ...{ title: 'Idempotency', folder: `${ORDERS}/idempotency`, names: Object.keys(idempotency), isChain: true },
    ...{ longest: 90, chapter: 'docs/orders/idempotency.md' },
  },
];
const HEADER =
  /^\/\/ (.+)\n\/\/ Problem: (\S.*\.)\n\/\/ Change: {2}\S.*\.\n\/\/ Leaves: {2}(\S.*\.)\n(?:\n|\/\/ Source: {2}\S)/;

function headerOf(text: string) {
  const [, title = '', problem = '', leaves = ''] = HEADER.exec(text) ?? [];
  return { title, problem, leaves };
}

test.each(courses)('$title: each file has its name, its problem, its change and what it leaves', (course) => {
  const { folder, names, title } = course;
  const textOf = (name: string) => readText(`${folder}/${name}.ts`);
  const headed = list(folder).filter(
    (file) => file.endsWith('.ts') && readText(`${folder}/${file}`).startsWith(`// ${title} `),
  );
  const faults = names.flatMap((name, at) => {
    const { title: own, problem, leaves } = headerOf(textOf(name));
    const before = course.isChain && at > 0 ? headerOf(textOf(names[at - 1] ?? '')).leaves : problem;
    const chapter = course.chapter.replace('*', name);
    const page = exists(chapter) ? readText(chapter) : '';
    return [
      ...(own.startsWith(`${title} `) && own.includes(name.replace(/^\d-/, ''))
        ? []
        : ['its header is not as the others']),
      ...(problem === before ? [] : ['its problem is not what the one before leaves']),
      ...(textOf(name).trimEnd().split('\n').length > course.longest
        ? [`it has more than ${course.longest} lines`]
        : []),
      // Stage 0 has no chapter: the next one begins with it.
      ...(name === '0-none' || [problem, leaves].every((words) => page.includes(`\n> ${words}\n`))
        ? []
        : [`${chapter} does not quote its problem and what it leaves`]),
    ].map((fault) => `${name}: ${fault}`);
  });

  expect(faults).toEqual([]);
  expect(headed).toEqual(names.map((name) => `${name}.ts`).toSorted());
});

const isComment = (line: string) => /^\s*(\/\/|\/\*|\*)/.test(line);

/** How many lines of code a diff adds: neither blank, nor a comment, nor an import. */
const newCode = (diff: string) =>
  diff.split('\n').filter((line) => /^\+(?!\+\+ )\s*(?!import )\S/.test(line) && !isComment(line.slice(1))).length;

test('stages: each is whole in itself, has the shape of the others, and keeps its budget', () => {
  const faults = stages.flatMap((stage, number) => {
    const text = readText(`locks/${stage}.ts`);
    const body = text.split('\n').slice(5);
    const comments = body.filter((line, at) =>
      isComment(line) ? !isComment(body[at - 1] ?? '') : /\s\/\/\s|\/\*/.test(line),
    );
    const functions = [...text.matchAll(/^ {2}async function (\w+)/gm)].map(([, name]) => name).join();
    const shape = stage === '8-auto-renew' ? 'acquire,renew,release' : 'acquire,release';
    const isWithin = number === 0 || newCode(stageDiff(number)) <= (number === 8 ? 20 : 10);
    return [
      ...(stage.startsWith(`${number}-`) ? [] : ['its number is not its place']),
      ...(functions === shape ? [] : [`it has ${functions}`]),
      ...(text
        .match(/^export .*/gm)
        ?.join()
        .startsWith('export const createLock: CreateLock = ')
        ? []
        : ['exports']),
      ...(/from '.*(\d|index).*'/.test(text) ? ['it imports another stage'] : []),
      ...(comments.length > 2 ? ['it has more than two comments in its body'] : []),
      ...(isWithin ? [] : ['it adds too much code']),
    ].map((fault) => `${stage}: ${fault}`);
  });

  expect(faults).toEqual([]);
  expect(stages.length).toBe(9);
});

test('registry: it has what each file exports, under the name of the file', async () => {
  const ways = ['createLock', 'createMultiLock', 'createReadLock', 'takeOne'];

  for (const name of Object.keys(registry.strategies)) {
    const module = stages.includes(name)
      ? await import(`../../locks/${name}.ts`)
      : await import(`../../locks/beyond/${name}.ts`);
    const own = Object.fromEntries(ways.filter((way) => way in module).map((way) => [way, module[way]]));
    const registered = { ...registry.strategies[name] } as Record<string, unknown>;
    expect(
      Object.fromEntries(ways.filter((way) => way in registered).map((way) => [way, registered[way]])),
      name,
    ).toEqual(own);
    expect(registry.knownVersions).toContain(name);
  }
  expect(['4', 'fenced', 'redis', 'no-such-lock'].map(registry.lockName)).toEqual([
    '4-ttl',
    'fenced',
    '8-auto-renew',
    undefined,
  ]);
});

test('chapters of the stages: each has the diff and the questions of its stage; if not: npm run diff -- --write', () => {
  const chapters = list('docs/stages').filter((file) => file.endsWith('.md'));

  expect(chapters).toEqual(stages.slice(1).map((stage) => `${stage}.md`));
  for (const [at, chapter] of chapters.entries()) {
    const text = readText(`docs/stages/${chapter}`);
    const asked = at === 0 ? stages.slice(0, 2) : [stages[at + 1]];
    expect(
      [...text.matchAll(/^```diff\n(.*?)^```$/gms)].map(([, diff]) => diff),
      chapter,
    ).toEqual([stageDiff(at + 1)]);
    expect([...text.matchAll(/<!-- questions: (\S+) -->/g)].map(([, stage]) => stage)).toEqual(asked);
    for (const stage of asked) expect(text).toContain(`\n\n${shown(readQuestions(stage as string))}\n\n`);
    expect(withQuestions(text), chapter).toBe(text);
  }
});

test('chapters: each asks for a prediction, folds every answer, and asks before it shows', () => {
  const chapters = ['docs/stages', 'docs/beyond', 'docs/orders'].flatMap((folder) =>
    list(folder)
      .map((file) => `${folder}/${file}`)
      .filter((file) => file.endsWith('.md')),
  );
  const count = (part: string) => part.match(/^\d+\. /gm)?.length ?? 0;
  const faults = chapters.flatMap((chapter) => {
    const text = readText(chapter);
    const [, predict = ''] = /^## Predict\n(.*?)^## /ms.exec(text) ?? [];
    const folded = [...predict.matchAll(/^<details>\n<summary>The answers?<\/summary>\n\n(.*?)^<\/details>$/gms)];
    const open = predict.replace(/^<details>.*?^<\/details>$/gms, '');
    const isAnswered = count(open) === 0 || folded.some(([, part = '']) => count(part) === count(open));
    const isFirst = text.indexOf('## Predict') < text.search(/^## (What you should see|Run)/m);
    return folded.length > 0 && isAnswered && isFirst && !/ is (right|wrong)\./.test(open) ? [] : [chapter];
  });

  expect(faults).toEqual([]);
});

interface Verdicts {
  locks: { stage: string; drills: { drill: string; verdict: string }[] }[];
}
const { signs: recorded = {} } = readRecord().staircase ?? {};
const { locks: libraries } = JSON.parse(readText('docs/measured/verdicts.json')) as Verdicts;
const signOf = (verdict: string | null | undefined) => ({ pass: '✔', fail: '✘' })[verdict ?? ''];

/** What is taught of the cell, or what was measured where nothing is taught; of a library what its verdict says. */
function expectedSign(row: string, drill: string): string | undefined {
  const library = libraries.find(({ stage }) => stage === row);
  if (library !== undefined) return signOf(library.drills.find((each) => each.drill === drill)?.verdict);
  return rowOf(row) && columnOf(drill) && (signOf(taughtVerdict(row, drill)) ?? recorded[row]?.[drill]);
}

/** The letter of the right answer to a question of the live page. */
function letterOf(row: string, drill: string): string | undefined {
  const answers = questionsOfThePage()[row]?.find((question) => question.drill === drill)?.answers ?? [];
  const right = answers.findIndex(({ isRight }) => isRight);
  return right === -1 ? undefined : `**${String.fromCharCode(65 + right)}**`;
}

/** The cells that a text names, such as `4-ttl · slow-holder` ✘, each with what it says of them, and what it should say. */
const cellsIn = (text: string) =>
  [...text.matchAll(/`([\w@.-]+) · ([\w-]+)`(?: (✔|✘|–|\*\*[A-D]\*\*))?/g)]
    .filter(([, row = '']) => !/^(row|stage)$/.test(row))
    .map(([, row = '', drill = '', says]) => ({
      ...{ cell: `${row} · ${drill}`, says },
      expected: says?.startsWith('**') ? letterOf(row, drill) : expectedSign(row, drill),
    }));

test('cells: each that a page names as a proof is there, and has the sign or the letter that the page gives it', () => {
  const pages = listDeep().filter((file) => file.endsWith('.md') && file !== 'CONTRIBUTING.md');
  const cells = pages.flatMap((page) => cellsIn(readText(page)).map((cell) => ({ page, ...cell })));

  expect(cells.filter(({ says, expected }) => says === undefined || says !== expected)).toEqual([]);
  expect(cells.length).toBeGreaterThan(100);
});

test('cells: a wrong sign, a wrong letter, a wrong drill and a cell of no staircase are seen', () => {
  const named =
    '`4-ttl · crashed-holder` ✘ `3-spin · rush` `4-ttl · slow-holder` **A** `4-ttl · slow-holders` ✘ `4-tll · rush` ✔';

  expect(cellsIn(named).map(({ says, expected }) => [says, expected])).toEqual([
    ['✘', '✔'],
    [undefined, '✔'],
    ['**A**', '**D**'],
    ['✘', undefined],
    ['✔', undefined],
  ]);
});

test('docs: each condition has a cell in which it holds, and each claim a quotation, an outcome and a drill', () => {
  const [conditions = ''] = /^\| condition .*?\n\n/ms.exec(readText('docs/conditions.md')) ?? [];
  const rows = conditions.trim().split('\n').slice(2);
  const claims = readText('docs/argument.md')
    .split(/^### \d+\. /m)
    .slice(1);

  expect(rows.filter((row) => !cellsIn(row).some(({ says }) => says === '✔'))).toEqual([]);
  expect(
    claims.filter((claim) => !/^> \S/m.test(claim) || !/\*\*Outcome:\*\*|No drill shows this/.test(claim)),
  ).toEqual([]);
  expect([rows.length, claims.length]).toEqual([expect.any(Number), 19]);
});
