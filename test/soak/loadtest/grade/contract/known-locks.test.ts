import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runContract } from '../../../../../loadtest/grade/contract/contract.ts';
import { openContractServers } from '../../../../../loadtest/grade/contract/contract-servers.ts';
import { fileOfPeer } from '../../../../../loadtest/peers/peer.ts';
import { checkNames } from '../../../../../loadtest/staircase/contract.ts';
import { makeTempDir } from '../../../../../scripts/stack/parts.ts';
import { cleanUpLater } from '../../../../clean-up.ts';
import { controls, knownBugs, promisesOf } from '../../../../known-bugs/bugs.ts';
import { type LockToGrade, writeKnownBug } from '../../../../known-bugs/known-bug.ts';
import { someAtATime } from '../../../../loadtest/grade/contract/some-at-a-time.ts';
import { writeModule } from '../../../../loadtest/grade/modules.ts';

const servers = openContractServers();
beforeAll(async () => void (await servers.atLeast(1)));
afterAll(servers.close);
const { dir, remove } = makeTempDir();
cleanUpLater(remove);

const signal = new AbortController().signal;
const inTurn = someAtATime(3);
const check = (stage: string, file: string, names: string[]) =>
  inTurn(() => runContract(servers, { stage, lock: { file }, names, signal }));
const checkLock = (lock: LockToGrade, names: string[]) =>
  check(lock.name, writeKnownBug(lock, promisesOf(lock), dir), names);

const caughtByContract = knownBugs.filter(({ caughtBy }) => caughtBy.startsWith('contract-'));
/** Another one here is caught by the same check; `npm run known-bugs` runs them all. */
const leftAside = [
  'stage-5',
  'release-without-look',
  'release-deletes-twice',
  'renews-too-late',
  'ignores-signal',
  'last-in-first-out',
  'node-keeps-the-lock',
  'key-of-its-own',
];
const caughtHere = caughtByContract.filter(({ name }) => !leftAside.includes(name));
/** The others are locks of ours, and go through the contract with them. */
const control = controls.filter(({ name }) => name === 'control-plain');

describe.concurrent('the contract: a lock that breaks its process', () => {
  const createLock = (acquire: string) =>
    `export const createLock = () => ({ async acquire() { ${acquire} }, async release() {} });`;

  // It takes longest, and waits alone.
  test('keeps it busy for ever: the first check says so', async () => {
    const file = writeModule('busy.ts', createLock('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);'));

    const [first] = await check('busy', file, checkNames.slice(0, 1));

    expect(first?.verdict).toBe('fail');
  });

  test('ends it: the first check says so, and no other is looked at', async () => {
    const file = writeModule(
      'deadly.ts',
      createLock("setImmediate(() => { throw new Error('boom'); }); await new Promise(() => {});"),
    );

    const [first, second] = await check('deadly', file, checkNames.slice(0, 2));

    expect(first?.reasons).toEqual([expect.stringMatching(/^node-1 ended with exit code 1: Error: boom\.$/)]);
    expect([first?.verdict, second?.verdict]).toEqual(['fail', 'not-applicable']);
  });
});

describe.concurrent('the contract: a lock with a known bug', () => {
  test('each check catches one', () => {
    const checks = new Set(caughtHere.map(({ caughtBy }) => caughtBy));

    expect(checkNames.filter((name) => !checks.has(name))).toEqual([]);
  });

  test.each(caughtHere)('$name: $caughtBy catches it', async (lock) => {
    const results = await checkLock(lock, [lock.caughtBy]);

    expect(results.map(({ drill, verdict }) => [drill, verdict])).toEqual([[lock.caughtBy, 'fail']]);
  });
});

describe.concurrent('the contract: a correct lock', () => {
  test.each(control)('$name: fails nothing, and nothing is unknown', async (lock) => {
    const results = await checkLock(lock, checkNames);

    expect(results.map(({ drill }) => drill)).toEqual(checkNames);
    expect(results.filter(({ verdict }) => verdict === 'fail' || verdict === 'unknown')).toEqual([]);
  });
});

test.concurrent('the contract: a published lock whose package is CommonJS can be looked at', async () => {
  const [enter] = await check('murlock', fileOfPeer('murlock'), ['contract-enter']);

  expect(enter).toMatchObject({ drill: 'contract-enter', verdict: 'pass' });
});
