import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drills } from '../../../../loadtest/drills/index.ts';
import type { RushFigures } from '../../../../loadtest/evidence/results.ts';
import { runExternalCell } from '../../../../loadtest/grade/external-cell.ts';
import { type Drill, lostTrack } from '../../../../loadtest/harness/drill.ts';
import { FREE_LIMIT_MS } from '../../../../loadtest/harness/rush.ts';
import { openLocalTarget, type Target } from '../../../../loadtest/harness/target.ts';
import { makeTempDir } from '../../../../scripts/stack/parts.ts';
import type { SaleEvent } from '../../../../services/inventory/lab/contract.ts';
import { lockKey } from '../../../../services/inventory/store.ts';
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

const ofCatalogue = [
  'control-plain',
  'release-by-get-then-del',
  'release-deletes-twice',
  'key-of-its-own',
  'other-key',
  'token-per-object',
  'setnx-then-pexpire',
];

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
  target = await openLocalTarget({
    forDrills: true,
    env: { LOG_LEVEL: 'silent', LOCK_VERSION: '', LOCK_MODULES: files.join(',') },
  });
});

afterAll(() => target.close());

function grade(name: string, drillName: string, requests?: number) {
  return gradeBy(drills.find((each) => each.name === drillName) as Drill, name, { requests });
}

async function gradeBy(drill: Drill, name: string, { on = target, requests = 400 } = {}) {
  const { outcome } = await runExternalCell(drill, {
    target: on,
    stage: name,
    settings: { requests, connections: 20, stock: 1_000, units: 100, leaseMs: LEASE_MS },
    signal: new AbortController().signal,
    onProgress() {},
    narrate: async () => {},
  });
  return outcome;
}

describe('late-release', { timeout: 300_000 }, () => {
  test('a release that looks, then deletes: each of the two is late once, and the second frees the lock of another', async () => {
    expect(await grade('release-by-get-then-del', 'late-release')).toMatchObject({
      verdict: 'fail',
      reasons: [
        expect.stringMatching(/^The late release \(DEL\) deleted the lock of sale \d{4}, and sale \d{4} entered/),
      ],
    });
  });

  test('a command after the one that frees the lock: it is late as well, though nobody has to wait for the lease', async () => {
    expect(await grade('release-deletes-twice', 'late-release')).toMatchObject({
      verdict: 'fail',
      reasons: [expect.stringMatching(/^The late release \(DEL\) deleted the lock/)],
    });
  });

  test('a release in one script holds', async () => {
    expect(await grade('control-plain', 'late-release')).toMatchObject({
      verdict: 'pass',
      reasons: [expect.stringMatching(/^The late release \(EVAL\) did nothing/)],
    });
  });

  test('a key of its own: it is told to use the given one', async () => {
    expect(await grade('key-of-its-own', 'late-release')).toMatchObject({
      verdict: 'fail',
      reasons: [expect.stringMatching(/"lock:inventory": use the key that you are given/)],
    });
  });

  test('a key that has the given one in its name will do', async () => {
    expect(await grade('other-key', 'late-release')).toMatchObject({ verdict: 'pass' });
  });
});

test('nested-call: a lock that counts the holds of one object waits for itself by another', {
  timeout: 300_000,
}, async () => {
  expect(await grade('token-per-object', 'nested-call')).toMatchObject({
    verdict: 'fail',
    reasons: [
      expect.stringMatching(
        /^The holder waited for itself when it asked by another lock object.* By the same object it does not\.$/,
      ),
    ],
  });
});

test('rush: a lost wake-up leaves the lock free while sales wait, and that is a failure', {
  timeout: 300_000,
}, async () => {
  const { verdict, reasons, figures, witnesses } = await grade('loses-wake-ups', 'rush', FEW);
  expect({ verdict, reasons, witnesses }).toEqual({
    verdict: 'fail',
    reasons: expect.arrayContaining([
      expect.stringMatching(/^For [\d.]+ s nobody held the lock although sales waited\./),
    ]),
    witnesses: [expect.stringMatching(/^From [\d.]+ s to [\d.]+ s nobody was inside, and sale \d{4} on node-[12]/)],
  });
  expect((figures as RushFigures).longestFreeMs).toBeGreaterThan(FREE_LIMIT_MS);
});

test('rush: a right lock is hardly ever free while sales wait', { timeout: 300_000 }, async () => {
  const { verdict, figures } = await grade('control-plain', 'rush');
  expect(verdict).toBe('pass');
  expect((figures as RushFigures).longestFreeMs).toBeLessThan(FREE_LIMIT_MS / 2);
});

test('client-gone: a place that stays in the queue keeps the next sale out, and the drill waits no longer than 5 s', {
  timeout: 300_000,
}, async () => {
  const startedAt = performance.now();
  expect(await grade('keeps-a-place', 'client-gone')).toMatchObject({
    verdict: 'fail',
    reasons: ['The next sale had no answer within 5 s, and the drill waits no longer.'],
    figures: { stillWaiting: 0 },
  });
  expect(performance.now() - startedAt).toBeLessThan(40_000);
});

test('long-wait: a lock that tries by SETNX tries, and what a try keeps is measured', {
  timeout: 300_000,
}, async () => {
  const { verdict, figures } = await grade('setnx-then-pexpire', 'long-wait');
  expect({ verdict, figures }).toMatchObject({ verdict: 'pass', figures: { tries: expect.any(Number) } });
});

describe('what a lock leaves behind', () => {
  const url = () => target.stack?.redis.url ?? '';

  /** A drill that finds these keys. */
  const looking = (found: string[]): Drill => ({
    name: 'rush',
    kind: 'load',
    async run() {
      const redis = new Redis(url());
      found.push(...(await redis.keys('*')));
      redis.disconnect();
      return lostTrack('It only looked.');
    },
  });

  async function leave(keys: string[]) {
    const redis = new Redis(url());
    for (const key of keys) await redis.set(key, 'left');
    redis.disconnect();
  }

  test('in a Redis of ours: nothing is there at the next drill, whatever its name', async () => {
    await leave(['my-own-key', lockKey('001', 'control-plain')]);
    const found: string[] = [];
    await gradeBy(looking(found), 'control-plain');
    expect(found).toEqual([]);
  });

  test('in a Redis that is not ours: what does not have the key in its name stays', async () => {
    await leave(['my-own-key', lockKey('001', 'control-plain')]);
    const found: string[] = [];
    const stack = { ...target.stack, redis: { kind: 'external', url: url() } } as unknown as NonNullable<
      Target['stack']
    >;
    await gradeBy(looking(found), 'control-plain', { on: { ...target, stack } });
    expect(found).toEqual(['my-own-key']);
  });
});

test('sales that failed for several reasons: the most frequent one is told', async () => {
  const failed = (detail: string): SaleEvent => ({
    at: 1,
    type: 'failed',
    node: 'node-1',
    saleId: '1',
    code: 'LOCK_FAILED',
    detail,
  });
  const drill: Drill = {
    name: 'rush',
    kind: 'load',
    run: async () => ({
      ...lostTrack('It lost track.'),
      events: [failed('once.'), failed('often.'), failed('often.')],
    }),
  };
  expect(await gradeBy(drill, 'control-plain')).toMatchObject({
    verdict: 'fail',
    reasons: ['No sale took place: often.'],
  });
});
