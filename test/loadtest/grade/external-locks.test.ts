import { existsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readExternalLock } from '../../../loadtest/grade/external-locks.ts';
import { hostArgs } from '../../../stack/bundle.ts';
import { lockWith, noModule, writeModule } from './modules.ts';

const bad: [what: string, file: string, problem: RegExp][] = [
  ['is not there', noModule('missing.ts'), /^there is no such file$/],
  [
    'ends the process',
    writeModule('exits.ts', 'process.exit(7); export {};'),
    /^it ends the process that loads it \(7\)$/,
  ],
  ['exports something else', writeModule('other.ts', 'export const lock = 1;'), /^it does not export createLock$/],
  [
    'makes no lock',
    writeModule('no-lock.ts', 'export const createLock = () => ({ acquire() {} });'),
    /^createLock\(\) does not return \{ acquire, release \}: it returns \{ acquire/,
  ],
  ['has the name of a lock of ours', writeModule('4-ttl.ts', lockWith({})), /^4-ttl is the name of a built-in lock/],
  ['has a name that is no name of a row', writeModule('My_Lock.ts', lockWith({})), /must be in lower case/],
  [
    'never ends its import',
    writeModule('waits.mts', 'await new Promise(() => {}); export {};'),
    /^its import never ends/,
  ],
];

test.each(bad)('a module that can not be graded: it %s', async (_what, file, problem) => {
  expect((await readExternalLock(file)).problem).toMatch(problem);
});

test('a module that says what it promises: it is read, and what is not understood is refused', async () => {
  const promising = (text: string) => writeModule('right-lock.ts', `${lockWith({})}\nexport const promises = ${text};`);
  const [masters, odd] = [promising('{ masters: true, fairness: true }'), promising('{ speed: true }')];

  expect((await readExternalLock(promising('{}'))).doesNotPromise).toHaveProperty('nested-call');
  expect(await readExternalLock(masters)).toMatchObject({ promises: { masters: true, fairness: 'order' } });
  expect((await readExternalLock(odd)).problem).toMatch(/^its promises can't be read: .*speed/);
});

test.each([
  ["{ 'contract-abort-many': 'It can not be cancelled.' }", undefined],
  ["{ rush: 'It is slow.' }", /^its doesNotPromise names rush, which is not a check or a drill that a lock may fail$/],
  ["{ 'contract-late-release': 'It has no owner.' }", /^its doesNotPromise names contract-late-release, /],
  ["{ 'contract-abort-many': 1 }", /^its doesNotPromise can't be read: /],
])('a module that says what it need not hold, as in %s', async (text, problem) => {
  const file = writeModule('right-lock.ts', `${lockWith({})}\nexport const doesNotPromise = ${text};`);
  const grade = await readExternalLock(file);

  if (problem) expect(grade.problem).toMatch(problem);
  else expect(grade.doesNotPromise).toMatchObject({ 'contract-abort-many': 'It can not be cancelled.' });
});

test('a module that can be graded, and that promises nothing: both messages of the process that loads it are heard, also at once', async () => {
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

  expect(await graded).toMatchObject({ stage: 'quick-lock', file });
});
