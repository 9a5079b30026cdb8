// The contract of `npm run grade`, on real servers: each check catches a lock with the bug that it is for, and locks of ours come out as taught.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checks } from '../../../../loadtest/grade/contract/checks.ts';
import { runContract } from '../../../../loadtest/grade/contract/contract.ts';
import { openContractServers } from '../../../../loadtest/grade/contract/contract-servers.ts';
import { fileOfPeer } from '../../../../loadtest/peers/peer.ts';
import { checkNames, contractRows, promisesOfOurs, whyItFails } from '../../../../loadtest/staircase/contract.ts';
import { backendOf, hasLock, replicasOf, strategies } from '../../../../locks/index.ts';
import { makeTempDir } from '../../../../scripts/stack/parts.ts';
import { MASTERS } from '../../../../scripts/stack/stack.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { controls, knownBugs, promisesOf } from '../../../known-bugs/bugs.ts';
import { type LockToGrade, writeKnownBug } from '../../../known-bugs/known-bug.ts';
import { writeModule } from '../../../loadtest/grade/modules.ts';

const servers = openContractServers();
beforeAll(async () => void (await servers.atLeast(MASTERS)));
afterAll(servers.close);
const { dir, remove } = makeTempDir();
cleanUpLater(remove);

const { signal } = new AbortController();
const check = (stage: string, file: string, names: string[]) =>
  runContract(servers, { stage, lock: { file }, names, signal });
const checkLock = (lock: LockToGrade, names: string[]) =>
  check(lock.name, writeKnownBug(lock, promisesOf(lock), dir), names);

describe('a lock with a known bug', () => {
  /** Another one here is caught by the same check; `npm run known-bugs` runs them all. */
  const leftAside = [
    ...['stage-5', 'release-without-look', 'release-deletes-twice', 'renews-too-late', 'ignores-signal'],
    ...['last-in-first-out', 'node-keeps-the-lock', 'key-of-its-own'],
  ];
  const caught = knownBugs.filter(
    ({ name, caughtBy }) => caughtBy.startsWith('contract-') && !leftAside.includes(name),
  );

  test.each(caught.map((lock) => [lock.name, lock.caughtBy, lock] as const))(
    '%s: %s catches it',
    async (_name, by, lock) => {
      expect(await checkLock(lock, [by])).toMatchObject([{ drill: by, verdict: 'fail' }]);
    },
  );

  test('a correct one fails nothing, and nothing is unknown', async () => {
    const control = controls.find(({ name }) => name === 'control-plain') as LockToGrade;
    const results = await checkLock(control, checkNames);

    expect(results.map(({ drill }) => drill)).toEqual(checkNames);
    expect(results.filter(({ verdict }) => verdict === 'fail' || verdict === 'unknown')).toEqual([]);
  });

  test('one that ends its process: the first check says so, and no other is looked at', async () => {
    const acquire = "setImmediate(() => { throw new Error('boom'); }); await new Promise(() => {});";
    const text = `export const createLock = () => ({ async acquire() { ${acquire} }, async release() {} });`;
    const [first, second] = await check('deadly', writeModule('deadly.ts', text), checkNames.slice(0, 2));

    expect(first?.reasons).toEqual([expect.stringMatching(/^node-1 ended with exit code 1: Error: boom\.$/)]);
    expect([first?.verdict, second?.verdict]).toEqual(['fail', 'not-applicable']);
  });

  test('a published one whose package is CommonJS can be looked at', async () => {
    expect(await check('murlock', fileOfPeer('murlock'), ['contract-enter'])).toMatchObject([{ verdict: 'pass' }]);
  });
});

describe('locks of ours', () => {
  const signs = { pass: '✔', fail: '✘', unknown: '?', 'not-applicable': '–' };
  const cellsOf = async (name: string) => {
    const promises = promisesOfOurs[name] ?? {};
    const results = await runContract(servers, { stage: name, lock: { name }, promises, names: checkNames, signal });
    return results.map(({ drill, verdict, reasons }) => [drill, signs[verdict], reasons.join(' ')]);
  };

  test('the table has a column for each check, a row for each lock in Redis, and a reason for each ✘ alone', () => {
    const inRedis = Object.keys(strategies).filter(
      (name) => hasLock(name) && ['redis', 'masters'].includes(backendOf(name)) && replicasOf(name) === 0,
    );
    expect(checks.map(({ name }) => name)).toEqual(checkNames);
    expect(Object.keys(contractRows).toSorted()).toEqual(inRedis.toSorted());
    for (const [row, ofRow] of Object.entries(contractRows))
      for (const [name, sign] of Object.entries(ofRow)) expect(whyItFails(row, name) !== undefined).toBe(sign === '✘');
  });

  // Those with the most ✘, and one of each way to wait; the search and the virtual world judge all of them.
  test.each(['1-in-process', '4-ttl', '8-auto-renew', 'cohort', 'redlock'])(
    '%s: every check comes out as taught',
    async (lock) => {
      const taught = Object.entries(contractRows[lock] ?? {}).map(([name, sign]) => [name, sign, expect.any(String)]);
      expect(await cellsOf(lock)).toEqual(taught);
    },
  );
});
