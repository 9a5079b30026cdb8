import { afterAll, beforeAll, expect, test } from 'vitest';
import { runContract } from '../../../../loadtest/grade/contract/contract.ts';
import { openContractServers } from '../../../../loadtest/grade/contract/contract-servers.ts';
import { checkNames, contractRows } from '../../../../loadtest/staircase/contract.ts';
import { makeBarePath } from '../../commands/command-under-test.ts';

// Nothing but Node is on the PATH, so Redis is the embedded Valkey.
const bare = makeBarePath();
const { PATH } = process.env;
const servers = openContractServers();
const signs = { pass: '✔', fail: '✘', unknown: '?', 'not-applicable': '–' };

beforeAll(() => {
  process.env['PATH'] = bare.path;
});

afterAll(async () => {
  await servers.close();
  process.env['PATH'] = PATH;
  bare.remove();
});

test('the row of delete-if-equal is that of stage 6', () => {
  expect(contractRows['delete-if-equal']).toEqual(contractRows['6-lua-release']);
});

test('delete-if-equal: every check comes out as taught on a server that has its command', async () => {
  const results = await runContract(servers, {
    stage: 'delete-if-equal',
    lock: { name: 'delete-if-equal' },
    promises: {},
    names: checkNames,
    signal: new AbortController().signal,
  });

  expect(results.map(({ drill, verdict, reasons }) => [drill, signs[verdict], reasons.join(' ')])).toEqual(
    Object.entries(contractRows['delete-if-equal'] ?? {}).map(([check, sign]) => [check, sign, expect.any(String)]),
  );
});
