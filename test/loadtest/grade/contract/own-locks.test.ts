import { afterAll, describe, expect, test } from 'vitest';
import { checks } from '../../../../loadtest/grade/contract/checks.ts';
import { runContract } from '../../../../loadtest/grade/contract/contract.ts';
import { openContractServers } from '../../../../loadtest/grade/contract/contract-servers.ts';
import { checkNames, contractRows, promisesOfOurs, whyItFails } from '../../../../loadtest/staircase/contract.ts';
import { backendOf, hasLock, strategies } from '../../../../locks/index.ts';

const servers = openContractServers();
afterAll(servers.close);

const signs = { pass: '✔', fail: '✘', unknown: '?', 'not-applicable': '–' };

describe('the contract of our own locks', () => {
  test('the table has a column for each check, and a row for each lock in Redis', () => {
    const inRedis = Object.keys(strategies).filter(
      (name) => hasLock(name) && ['redis', 'masters'].includes(backendOf(name)),
    );

    expect(checks.map(({ name }) => name)).toEqual(checkNames);
    expect(Object.keys(contractRows).sort()).toEqual(inRedis.sort());
  });

  test('each ✘ has its reason, and nothing else has one', () => {
    for (const [row, signs] of Object.entries(contractRows)) {
      for (const [check, sign] of Object.entries(signs)) {
        expect([row, check, whyItFails(row, check) !== undefined]).toEqual([row, check, sign === '✘']);
      }
    }
  });

  test.each(Object.keys(contractRows))('%s: every check comes out as taught', async (stage) => {
    const results = await runContract(servers, {
      stage,
      lock: { name: stage },
      promises: promisesOfOurs[stage] ?? {},
      names: checkNames,
      signal: new AbortController().signal,
    });

    const found = results.map(({ drill, verdict, reasons }) => [drill, signs[verdict], reasons.join(' ')]);
    const taught = Object.entries(contractRows[stage] ?? {}).map(([check, sign]) => [check, sign, expect.any(String)]);
    expect(found).toEqual(taught);
  });
});
