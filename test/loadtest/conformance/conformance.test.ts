// The conformance checks: locks of ours come out as taught, and what is no lock, or can't be run, is told.

import { expect, test } from 'vitest';
import { checks } from '../../../loadtest/conformance/checks.ts';
import { runCheck } from '../../../loadtest/conformance/conformance.ts';
import { checkNames, contractRows, whyItFails } from '../../../loadtest/staircase/contract.ts';
import { backendOf, hasLock, replicasOf, strategies } from '../../../locks/index.ts';
import { lockNamed } from '../../../virtual/lock-service.ts';
import { lockWith, writeModule } from '../grade/modules.ts';

const signs = { pass: '✔', fail: '✘', unknown: '?', 'not-applicable': '–' };

/** What comes of a check under a lock that somebody wrote. */
function check(name: string, text: string) {
  const facts = { backend: 'redis', isExternal: true } as const;
  return runCheck(name, { name: 'of-somebody', file: writeModule('of-somebody.ts', text), facts });
}

test('the table has a column for each check, a row for each lock in Redis, and a reason for each ✘ alone', () => {
  const inRedis = Object.keys(strategies).filter(
    (name) => hasLock(name) && ['redis', 'masters'].includes(backendOf(name)) && replicasOf(name) === 0,
  );
  expect(checks.map(({ name }) => name)).toEqual(checkNames);
  expect(Object.keys(contractRows).toSorted()).toEqual(inRedis.toSorted());
  for (const [row, ofRow] of Object.entries(contractRows))
    for (const [name, sign] of Object.entries(ofRow)) expect(whyItFails(row, name) !== undefined).toBe(sign === '✘');
});

// What stays in memory is looked at under the known bugs and their controls.
test.each(Object.entries(contractRows))(
  '%s: every check comes out as taught',
  async (row, { 'contract-heap': _, ...taught }) => {
    const found: Record<string, string> = {};
    for (const name of Object.keys(taught)) found[name] = signs[(await runCheck(name, lockNamed(row))).verdict];
    expect(found).toEqual(taught);
  },
);

test.each([
  [
    'that ends its process',
    "setImmediate(() => { throw new Error('boom'); }); await new Promise(() => {});",
    'fail',
    /Error: boom/,
  ],
  [
    'that always throws',
    "throw new Error('ERR max number of clients reached');",
    'fail',
    /was not entered: acquire\(\) rejected/,
  ],
  ['that asks for what the virtual world does not have', 'await redis.blpop(key, 1);', 'unknown', /BLPOP/],
])('a lock %s: the first check says so', async (_what, acquire, verdict, reason) => {
  const outcome = await check('contract-enter', lockWith({ acquire }));

  expect(outcome).toMatchObject({ verdict, reasons: [expect.stringMatching(reason)] });
});

test('a lock that the virtual world can not run is unknown, with the reason', async () => {
  const outcome = await check('contract-crash', `import 'node:net';\n${lockWith({})}`);

  expect(outcome).toMatchObject({ verdict: 'unknown', reasons: [expect.stringMatching(/it imports node:net/)] });
});

test('owners that are drawn at random are not the same: two holders of one process are told apart', async () => {
  const drawing = lockWith({}).replace('=> ({', '=> make({').replace('ownerToken, leaseMs', 'leaseMs');
  const text = drawing
    .replace(/ownerToken/g, 'owner')
    .replace('=> make({', '=> { const owner = String(Math.random()); return {');

  expect(await check('contract-same-node', text.replace(/\}\);\s*$/, '}; };'))).toMatchObject({ verdict: 'pass' });
});
