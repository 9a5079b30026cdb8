import { describe, expect, test } from 'vitest';
import { runCheck } from '../../loadtest/conformance/conformance.ts';
import { drills } from '../../loadtest/scenarios/index.ts';
import { checkNames } from '../../loadtest/staircase/conformance.ts';
import { addExternalRow } from '../../loadtest/staircase/lookup.ts';
import { playDrill } from '../../loadtest/worlds/simulated/play.ts';
import { factsOfPromises } from '../../services/inventory/sale/external-lock.ts';
import { makeTempDir } from '../../stack/parts.ts';
import { cleanUpLater } from '../clean-up.ts';
import { searchIn } from '../prove/own-locks.ts';
import { controls, knownBugs, promisesOf, twins } from './bugs.ts';
import { type LockToGrade, writeKnownBug } from './known-bug.ts';

const { dir, remove } = makeTempDir();
cleanUpLater(remove);
const files = new Map<LockToGrade, string>();
function written(lock: LockToGrade): string {
  const file = files.get(lock) ?? writeKnownBug(lock, promisesOf(lock), dir);
  files.set(lock, file);
  return file;
}

/** A scope that finds the bug; the matrix has the two that are strategies as they are. */
const bySearch: [name: string, scope: string][] = [
  ['release-by-get-then-del', 'late-release'],
  ['release-without-look', 'slow-holder'],
  ['release-deletes-twice', 'plain'],
  ['setnx-then-pexpire', 'crashed-holder'],
  ['wait-is-the-lease', 'crashed-holder'],
  ['set-without-nx', 'plain'],
  ['token-from-incr', 'slow-holder'],
  ['renews-too-late', 'long-sale'],
  ['ignores-signal', 'client-gone'],
  ['abort-leaves-key', 'client-gone'],
  ['lost-wake-up', 'lost-wakeup'],
  ['key-per-acquisition', 'plain'],
  ['inner-release-frees', 'nested-call'],
  ['timer-per-acquire', 'nested-long-sale'],
  ['inner-release-ends-timer', 'nested-long-sale'],
  ['token-per-object', 'nested-object'],
  ['zcard-then-zadd', 'three-clerks'],
  ['one-too-many', 'three-clerks'],
];
/** A drill that finds it, in virtual time. */
const byDrill: [name: string, drill: string][] = [
  ['ignores-signal', 'client-gone'],
  ['renews-six-times', 'long-sale'],
  ['tenure-without-end', 'starvation'],
  ['node-keeps-the-lock', 'starvation'],
  ['permits-without-lease', 'lost-permit'],
  ['one-lease-for-all-permits', 'lost-permit'],
  ['lets-in-one-alone', 'three-clerks'],
  ['one-too-many', 'three-clerks'],
];

const [plain] = controls as [LockToGrade];
const named = (name: string) => knownBugs.find((bug) => bug.name === name) as LockToGrade;

describe('known bugs: a conformance check finds it', () => {
  const sourceOf = (lock: LockToGrade) => ({
    name: lock.name,
    file: written(lock),
    facts: { backend: 'redis' as const, isExternal: true as const },
    hasOurClient: true as const,
  });
  const byCheck = knownBugs.filter(({ caughtBy }) => caughtBy.startsWith('contract-'));

  test.each(byCheck.map((bug) => [bug.name, bug.caughtBy, bug] as const))('%s, by %s', async (_name, check, bug) => {
    const sentence = expect.stringMatching(/^[A-Z0-9`](?!.*\.\.).*\.$/);
    expect(await runCheck(check, sourceOf(bug))).toMatchObject({ verdict: 'fail', reasons: [sentence] });
  });

  test.each(twins.map((twin) => [twin.name, twin.caughtBy, twin] as const))(
    '%s looks as if it had one, and passes %s',
    async (_name, check, twin) => {
      const { verdict, reasons } = await runCheck(check, sourceOf(twin));
      expect({ verdict, reasons }).toMatchObject({ verdict: 'pass' });
    },
  );

  // The others are stages and strategies: test/loadtest/conformance has them.
  test.each(['control-plain', 'control-hash-semaphore'])('and nothing in %s', async (name) => {
    const source = sourceOf(controls.find((control) => control.name === name) as LockToGrade);
    // Long sequences take a while: test/soak.
    for (const check of checkNames.filter((name) => name !== 'contract-long-sequences')) {
      const { verdict, reasons } = await runCheck(check, source);
      expect({ check, verdict, reasons }).toMatchObject({ verdict: expect.stringMatching(/^(pass|not-applicable)$/) });
    }
  });
});

describe('known bugs: the search finds it', () => {
  test.each(bySearch)('%s, in %s', async (name, scope) => {
    expect((await searchIn(written(named(name)), scope)).verdict).toBe('fails');
  });

  // The others are stages and strategies: the matrix has them.
  test.each(['plain', 'late-release', 'crashed-holder', 'long-sale', 'client-gone'])(
    'and nothing in the lock without a bug, in %s',
    async (scope) => {
      expect((await searchIn(written(plain), scope)).verdict).toBe('holds');
    },
  );
});

// The locks without the bug pass it: test/loadtest/worlds/simulated/cells.
test.each(byDrill)('known bugs: a drill finds it: %s, by %s', async (name, drillName) => {
  const drill = drills.find((each) => each.name === drillName) as (typeof drills)[number];
  const facts = factsOfPromises(promisesOf(named(name)));
  const lock = { name, file: written(named(name)), facts };
  addExternalRow(name, facts);

  expect((await playDrill(drill, name, { lock })).outcome.verdict).toBe('fail');
});
