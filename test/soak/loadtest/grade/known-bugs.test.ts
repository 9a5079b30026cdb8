// Drills on real nodes whose lock is a module with a known bug: what only real packets and processes show.

import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RushFigures } from '../../../../loadtest/evidence/results.ts';
import { type Drill, lostTrack, runCell } from '../../../../loadtest/harness/drill.ts';
import { FREE_LIMIT_MS } from '../../../../loadtest/harness/rush.ts';
import type { Target } from '../../../../loadtest/harness/target.ts';
import { drills } from '../../../../loadtest/scenarios/index.ts';
import { openLocalTarget } from '../../../../loadtest/worlds/real/target.ts';
import { realWorld } from '../../../../loadtest/worlds/real/world.ts';
import { lockKey } from '../../../../services/inventory/servers/store.ts';
import { makeTempDir } from '../../../../stack/parts.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { controls, knownBugs, promisesOf } from '../../../known-bugs/bugs.ts';
import { type LockToGrade, writeKnownBug } from '../../../known-bugs/known-bug.ts';
import { lockWith, writeModule } from '../../../loadtest/grade/modules.ts';

const LEASE_MS = 600;
/** Sales of a rush in which each waits for its time-out. */
const FEW = 25;

const { dir, remove } = makeTempDir();
cleanUpLater(remove);

/** A lock of the catalogue, as a module. */
function written(name: string) {
  const lock = [...controls, ...knownBugs].find((each) => each.name === name) as LockToGrade;
  return writeKnownBug(lock, promisesOf(lock), dir);
}

const ofCatalogue = ['control-plain', 'key-of-its-own', 'other-key', 'setnx-then-pexpire'];

/** A waiter that has gone keeps its place in the queue, and nobody behind it is ever the first. */
const keepsAPlace = lockWith({
  acquire:
    "await redis.rpush(key + ':queue', ownerToken); while ((await redis.lindex(key + ':queue', 0)) !== ownerToken) await sleep(retryDelayMs, undefined, { signal });",
  release: "await redis.lpop(key + ':queue');",
});

/** Waiters sleep until a release wakes them, and one that comes before they sleep wakes nobody. */
const losesWakeUps = `import { EventEmitter, once } from 'node:events';
const releases = new EventEmitter();
releases.setMaxListeners(0);
${lockWith({
  acquire:
    "while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') { await sleep(retryDelayMs, undefined, { signal }); await once(releases, 'release', { signal }); }",
  release: "await redis.eval(releaseIfOwner, 1, key, ownerToken); releases.emit('release');",
})}`;

let target: Target;
beforeAll(async () => {
  const files = ofCatalogue.map((name) => `${name}=${written(name)}`);
  files.push(`keeps-a-place=${writeModule('keeps-a-place.ts', keepsAPlace)}`);
  files.push(`loses-wake-ups=${writeModule('loses-wake-ups.ts', losesWakeUps)}`);
  const env = { LOG_LEVEL: 'silent', LOCK_VERSION: '', LOCK_MODULES: files.join(',') };
  target = await openLocalTarget({ forDrills: true, env });
});
afterAll(() => target.close());

const grade = (name: string, drillName: string, requests?: number) =>
  gradeBy(drills.find((each) => each.name === drillName) as Drill, name, { requests });

function gradeBy(drill: Drill, name: string, { on = target, requests = 400 } = {}) {
  const world = realWorld({
    targets: { open: async () => on, discard: async () => {} },
    settings: { requests, connections: 20, stock: 1_000, units: 100, leaseMs: LEASE_MS },
    signal: new AbortController().signal,
  });
  return runCell({ stage: name, drill }, world);
}

test.each<[drill: string, what: string, lock: string, verdict: string, says: RegExp]>([
  ['late-release', 'a key of its own', 'key-of-its-own', 'fail', /"lock:inventory": use the key that you are given/],
  ['late-release', 'a key that has the given one in its name', 'other-key', 'pass', /./],
  ['long-wait', 'a lock that tries by SETNX', 'setnx-then-pexpire', 'pass', /./],
  ['client-gone', 'a place that stays in the queue', 'keeps-a-place', 'fail', /^B did not succeed within 5 s/],
])('%s: %s', async (drill, _what, lock, verdict, says) => {
  const outcome = await grade(lock, drill);

  const reason = expect.stringMatching(says);
  expect({ verdict: outcome.verdict, reason: outcome.reasons[0] }).toEqual({ verdict, reason });
  if (drill === 'long-wait') expect(outcome.figures).toMatchObject({ tries: expect.any(Number) });
});

test('rush: a lost wake-up leaves the lock free while sales wait; a right lock is hardly ever free', async () => {
  const { verdict, reasons, figures, evidence } = await grade('loses-wake-ups', 'rush', FEW);
  expect({ verdict, evidence }).toEqual({
    verdict: 'fail',
    evidence: [expect.stringMatching(/^From [\d.]+ s to [\d.]+ s nobody was inside, although sale \d{4} on node-[12]/)],
  });
  expect(reasons.join(' ')).toMatch(/Nobody held the lock for [\d.]+ s, although sales were waiting\./);
  expect((figures as RushFigures).longestFreeMs).toBeGreaterThan(FREE_LIMIT_MS);

  const right = await grade('control-plain', 'rush');
  expect(right.verdict).toBe('pass');
  expect((right.figures as RushFigures).longestFreeMs).toBeLessThan(FREE_LIMIT_MS / 2);
});

describe('what a lock leaves behind', () => {
  const url = () => target.stack?.redis.url ?? '';

  /** What a drill finds that begins after a lock has left these keys. */
  async function found(on?: Target): Promise<string[]> {
    const redis = new Redis(url());
    for (const key of ['my-own-key', lockKey('001', 'control-plain')]) await redis.set(key, 'left');
    let keys: string[] = [];
    const looking: Drill = {
      name: 'rush',
      kind: 'load',
      async run() {
        keys = await redis.keys('*');
        return lostTrack('It only looked.');
      },
    };
    await gradeBy(looking, 'control-plain', { on });
    redis.disconnect();
    return keys;
  }

  test('in a Redis of ours: nothing is there at the next drill, whatever its name', async () => {
    expect(await found()).toEqual([]);
  });

  test('in a Redis that is not ours: what does not have the key in its name stays', async () => {
    const stack = { ...target.stack, redis: { kind: 'external', url: url() } } as unknown as Target['stack'];
    expect(await found({ ...target, stack })).toEqual(['my-own-key']);
  });
});
