import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checks } from '../../../../../loadtest/grade/contract/checks.ts';
import { runContract } from '../../../../../loadtest/grade/contract/contract.ts';
import { openContractServers } from '../../../../../loadtest/grade/contract/contract-servers.ts';
import { checkNames, contractRows, promisesOfOurs, whyItFails } from '../../../../../loadtest/staircase/contract.ts';
import { backendOf, commandsOf, hasLock, replicasOf, strategies } from '../../../../../locks/index.ts';
import { MASTERS } from '../../../../../scripts/stack/stack.ts';
import { lackOfDeleting, lacksDeleting } from '../../../../lacks-deleting.ts';
import { someAtATime } from '../../../../loadtest/grade/contract/some-at-a-time.ts';

const servers = openContractServers();
beforeAll(async () => void (await servers.atLeast(MASTERS)));
afterAll(servers.close);

const signs = { pass: '✔', fail: '✘', unknown: '?', 'not-applicable': '–' };
const all = Object.keys(contractRows);
/** The Redis that is installed may lack the commands of the others: embedded.test.ts checks them. */
const rows = all.filter((name) => commandsOf(name) === undefined);

const inTurn = someAtATime(1);
const cellsOf = (name: string) =>
  inTurn(async () => {
    const results = await runContract(servers, {
      stage: name,
      lock: { name },
      promises: promisesOfOurs[name] ?? {},
      names: checkNames,
      signal: new AbortController().signal,
    });
    return results.map(({ drill, verdict, reasons }) => [drill, signs[verdict], reasons.join(' ')]);
  });

describe('the contract of our own locks', () => {
  test('the table has a column for each check, and a row for each lock in Redis', () => {
    const inRedis = Object.keys(strategies).filter(
      (name) => hasLock(name) && ['redis', 'masters'].includes(backendOf(name)) && replicasOf(name) === 0,
    );

    expect(checks.map(({ name }) => name)).toEqual(checkNames);
    expect(all.toSorted()).toEqual(inRedis.toSorted());
  });

  test('each ✘ has its reason, and nothing else has one', () => {
    for (const [row, signs] of Object.entries(contractRows)) {
      for (const [check, sign] of Object.entries(signs)) {
        expect([row, check, whyItFails(row, check) !== undefined]).toEqual([row, check, sign === '✘']);
      }
    }
  });

  test('a lock whose commands Redis lacks: no check applies, and each says why', async ({ skip }) => {
    const [url = ''] = await servers.atLeast(1);
    skip(!(await lacksDeleting(url)));

    expect(await cellsOf('delete-if-equal')).toEqual(
      checkNames.map((name) => [name, '–', expect.stringMatching(lackOfDeleting)]),
    );
  });

  test.concurrent.each(rows)('%s: every check comes out as taught', async (stage) => {
    const taught = Object.entries(contractRows[stage] ?? {}).map(([check, sign]) => [check, sign, expect.any(String)]);

    expect(await cellsOf(stage)).toEqual(taught);
  });
});
