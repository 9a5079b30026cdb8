import { describe, expect, test } from 'vitest';
import { locks } from '../../locks/index.ts';
import { stageDiff } from '../../scripts/diff.ts';
import { exists, list, readText, stages } from './project-files.ts';

const lines = (stage: string) => readText(`locks/${stage}.ts`).trimEnd().split('\n');
const chaptersOf = stages.slice(1);

/** What the header says after `Problem:`, `Change:` or `Leaves:`. */
function read(stage: string | undefined, word: 'Problem' | 'Change' | 'Leaves') {
  const line = stage && lines(stage).find((line) => line.startsWith(`// ${word}:`));
  return line?.replace(/^\/\/ \w+: +/, '');
}

describe('names', () => {
  test('stages: nine files, numbered from 0 to 8', () => {
    expect(stages.map((stage) => Number.parseInt(stage, 10))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('registry: has every stage under the name of its file, in order', () => {
    const registered = Object.keys(locks).filter((name) => /^\d/.test(name));

    expect(registered).toEqual(stages);
  });

  test('chapters: every stage from 1 on has one under its name, and no other is numbered', () => {
    const chapters = list('docs/stages').filter((file) => /^\d.*\.md$/.test(file));

    expect(chapters).toEqual(chaptersOf.map((stage) => `${stage}.md`));
  });

  test.each(stages)('%s: has a test under its name', (stage) => {
    expect(exists(`test/locks/${stage}.test.ts`)).toBe(true);
  });
});

describe('the header', () => {
  test.each(stages)('%s: opens with its number and name, the problem, the change, and what it leaves', (stage) => {
    const [number, name] = [stage.slice(0, 1), stage.slice(2)];
    const [title, problem, change, leaves, blank] = lines(stage);

    expect(title).toBe(`// Stage ${number} · ${name}`);
    expect(problem).toMatch(/^\/\/ Problem: [^ ].*\.$/);
    expect(change).toMatch(/^\/\/ Change: {2}[^ ].*\.$/);
    expect(leaves).toMatch(/^\/\/ Leaves: {2}[^ ].*\.$/);
    expect(blank).toBe('');
  });

  test.each(chaptersOf)('%s: its problem is what the stage before leaves, word for word', (stage) => {
    const before = stages[stages.indexOf(stage) - 1];

    expect(read(stage, 'Problem')).toBe(read(before, 'Leaves'));
    expect(read(stage, 'Problem')).not.toBe(read(stage, 'Leaves'));
  });
});

describe('the budget', () => {
  test.each(stages)('%s: has at most 50 lines', (stage) => {
    expect(lines(stage).length).toBeLessThanOrEqual(50);
  });

  test.each(chaptersOf)('%s: adds at most 10 lines of code, stage 8 at most 20', (stage) => {
    const number = stages.indexOf(stage);

    expect(newCode(stageDiff(number)).length).toBeLessThanOrEqual(number === 8 ? 20 : 10);
  });

  test.each(stages)('%s: has at most two comments below its header', (stage) => {
    const body = lines(stage).slice(5);
    const comments = body.filter((line, index) => isComment(line) && !isComment(body[index - 1] ?? ''));
    const trailing = body.filter((line) => !isComment(line) && /\s\/\/\s|\/\*/.test(line));

    expect([...comments, ...trailing].length).toBeLessThanOrEqual(2);
  });
});

describe('the shape', () => {
  test.each(stages)('%s: exports createLock and nothing else, and the registry has that one', async (stage) => {
    const exported = readText(`locks/${stage}.ts`).match(/^export .*/gm);
    const module = await import(`../../locks/${stage}.ts`);

    expect(exported).toEqual([expect.stringMatching(/^export const createLock: CreateLock = /)]);
    expect(Object.keys(module)).toEqual(['createLock']);
    expect(locks[stage]).toBe(module.createLock);
  });

  test.each(stages)('%s: has acquire, renew if it renews, and release, in this order', (stage) => {
    const functions = [...readText(`locks/${stage}.ts`).matchAll(/^ {2}async function (\w+)/gm)].map(
      ([, name]) => name,
    );

    expect(functions).toEqual(stage === '8-auto-renew' ? ['acquire', 'renew', 'release'] : ['acquire', 'release']);
  });

  test.each(stages)('%s: is whole in itself: it imports no other stage', (stage) => {
    const imported = [...readText(`locks/${stage}.ts`).matchAll(/from '(.*)'/g)].map(([, from]) => from);

    expect(imported.filter((from) => /\d|index/.test(from ?? ''))).toEqual([]);
  });
});

/** The lines of code that a diff adds: neither blank, nor a comment, nor an import. */
function newCode(diff: string) {
  return diff
    .split('\n')
    .filter((line) => line.startsWith('+') && !line.startsWith('+++ '))
    .map((line) => line.slice(1).trim())
    .filter((line) => line !== '' && !isComment(line) && !line.startsWith('import '));
}

function isComment(line: string) {
  return /^\s*(\/\/|\/\*|\*)/.test(line);
}
