import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runContract } from '../../../../loadtest/grade/contract/contract.ts';
import { openContractServers } from '../../../../loadtest/grade/contract/contract-servers.ts';
import { checkNames } from '../../../../loadtest/staircase/contract.ts';
import { writeModule } from '../modules.ts';
import { controlNames, writeControl, writeWrongLock, wrongLocks } from './known-locks.ts';
import { someAtATime } from './some-at-a-time.ts';

const servers = openContractServers();
beforeAll(async () => void (await servers.atLeast(1)));
afterAll(servers.close);

const signal = new AbortController().signal;
const inTurn = someAtATime(2);
const check = (stage: string, file: string, names: string[]) =>
  inTurn(() => runContract(servers, { stage, lock: { file }, names, signal }));

describe('the contract: a lock with a known bug', () => {
  test.concurrent.each(wrongLocks)('$name: $caughtBy catches it', async (lock) => {
    const results = await check(lock.name, writeWrongLock(lock), [lock.caughtBy]);

    expect(results.map(({ drill, verdict }) => [drill, verdict])).toEqual([[lock.caughtBy, 'fail']]);
  });
});

describe('the contract: a correct lock', () => {
  test.concurrent.each(controlNames)('%s: fails nothing, and nothing is unknown', async (name) => {
    const results = await check(name, writeControl(name), checkNames);

    expect(results.map(({ drill }) => drill)).toEqual(checkNames);
    expect(results.filter(({ verdict }) => verdict === 'fail' || verdict === 'unknown')).toEqual([]);
  });
});

describe('the contract: a lock that breaks its process', () => {
  const createLock = (acquire: string) =>
    `export const createLock = () => ({ async acquire() { ${acquire} }, async release() {} });`;

  test('ends it: the first check says so, and no other is looked at', async () => {
    const file = writeModule(
      'deadly.ts',
      createLock("setImmediate(() => { throw new Error('boom'); }); await new Promise(() => {});"),
    );

    const [first, second] = await check('deadly', file, checkNames.slice(0, 2));

    expect(first?.reasons).toEqual([expect.stringMatching(/^node-1 ended with exit code 1: Error: boom\.$/)]);
    expect([first?.verdict, second?.verdict]).toEqual(['fail', 'not-applicable']);
  });

  test('keeps it busy for ever: the first check says so', async () => {
    const file = writeModule('busy.ts', createLock('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);'));

    const [first] = await check('busy', file, checkNames.slice(0, 1));

    expect(first?.verdict).toBe('fail');
  });
});
