import { existsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { readExternalLock } from '../../../loadtest/grade/external-locks.ts';
import { hostArgs } from '../../../scripts/stack/bundle.ts';
import { lockWith, noModule, writeModule } from './modules.ts';

const bad: [what: string, file: string, problem: RegExp][] = [
  ['is not there', noModule('missing.ts'), /^there is no such file$/],
  ['is no TypeScript', writeModule('no-syntax.ts', 'export const = 1;'), /^its import fails: .*Expected/],
  [
    'throws',
    writeModule('throws.ts', "throw new Error('not today'); export {};"),
    /^its import fails: Error: not today$/,
  ],
  ['throws what is no error', writeModule('throws-text.ts', "throw 'no'; export {};"), /^its import fails: 'no'$/],
  [
    'ends the process',
    writeModule('exits.ts', 'process.exit(7); export {};'),
    /^it ends the process that loads it \(7\)$/,
  ],
  ['exports something else', writeModule('other.ts', 'export const lock = 1;'), /^it exports no createLock$/],
  [
    'exports no function',
    writeModule('no-function.ts', 'export const createLock = 7;'),
    /^its createLock is no function: 7$/,
  ],
  [
    'makes no lock',
    writeModule('no-lock.ts', 'export const createLock = () => ({ acquire() {} });'),
    /^createLock\(\) returns no \{ acquire, release \}: it returns \{ acquire/,
  ],
  [
    'throws when it makes a lock',
    writeModule('no-lock-today.ts', "export const createLock = () => { throw new TypeError('no'); };"),
    /^createLock\(\) throws: TypeError: no$/,
  ],
  ['has the name of a lock of ours', writeModule('4-ttl.ts', lockWith({})), /^4-ttl is the name of a lock of ours/],
  ['has a name that is no name of a row', writeModule('My_Lock.ts', lockWith({})), /must be in small letters/],
  [
    'never ends its import',
    writeModule('waits.mts', 'await new Promise(() => {}); export {};'),
    /^its import never ends/,
  ],
];

describe('a module that can not be graded', () => {
  test.each(bad)('%s: the sentence says so', async (_what, file, problem) => {
    expect((await readExternalLock(file)).problem).toMatch(problem);
  });
});

test('a module that can be graded: its name is that of its file', async () => {
  const file = writeModule('right-lock.ts', lockWith({}));

  expect(await readExternalLock(file)).toEqual({ stage: 'right-lock', file });
});

test('a module that says what it promises: it is read, and what is not understood is refused', async () => {
  const promising = (text: string) => writeModule('right-lock.ts', `${lockWith({})}\nexport const promises = ${text};`);
  const [masters, odd] = [promising('{ masters: true, fairness: true }'), promising('{ speed: true }')];

  const nothing = promising('{}');
  expect((await readExternalLock(nothing)).doesNotPromise).toHaveProperty('nested-call');
  expect(await readExternalLock(writeModule('silent-lock.ts', lockWith({})))).not.toHaveProperty('doesNotPromise');
  expect(await readExternalLock(masters)).toMatchObject({ promises: { masters: true, fairness: 'order' } });
  expect((await readExternalLock(odd)).problem).toMatch(/^its promises can't be read: .*speed/);
});

test('a module that can be graded: both messages of the process that loads it are heard, also at once', async () => {
  const ended = noModule('ended');
  const marks = `import { writeFileSync } from 'node:fs';
process.once('exit', () => writeFileSync(${JSON.stringify(ended)}, ''));`;
  const file = writeModule('quick-lock.ts', marks + lockWith({}));

  await hostArgs('loadtest/grade/check-module.ts');
  const graded = readExternalLock(file);
  // The process is started: what it takes is at hand.
  await setImmediate();
  // Nothing is read until the process has sent both and ends.
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(ended)) Atomics.wait(never, 0, 0, 10);

  expect(await graded).toEqual({ stage: 'quick-lock', file });
});
