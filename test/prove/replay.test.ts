import { beforeAll, describe, expect, test } from 'vitest';
import { proveCell } from '../../prove/cell.ts';
import { type ReplayOptions, replay } from '../../prove/replay.ts';
import type { Step } from '../../prove/state.ts';
import { sha1Of } from '../../simulation/scripts.ts';
import { fileOf, open, scopeNamed, searchIn, task, writeLock } from './own-locks.ts';

interface Found {
  steps: Step[];
  options: ReplayOptions;
}

async function find(stage: string, scope: string, masters = 0): Promise<Found> {
  const { counterexample = [] } = await searchIn(fileOf(stage), scope, { masters });
  const openLock = await open(fileOf(stage));
  const processes = scopeNamed(scope).processes ?? 2;
  return { steps: counterexample, options: { openLock, sales: 1, scope: scopeNamed(scope), processes, masters } };
}

// Those of one server: matrix.test.ts.
describe('replay: a counterexample goes the same way on fresh processes and a Valkey that is never put back', () => {
  test('redlock, amnesia: with masters', async () => {
    const { steps, options } = await find('redlock', 'amnesia', 3);

    expect(steps.map(({ kind }) => kind)).toContain('restart empty');
    expect(await replay(steps, options)).toBeUndefined();
  });

  test('a cell that fails says how often it was replayed', async () => {
    expect(await proveCell(task('4-ttl', 'long-sale'))).toMatchObject({ verdict: 'fails', replayed: 20 });
    expect(await proveCell(task('4-ttl', 'plain'))).not.toHaveProperty('replayed');
  });

  test('a script that one replay has taught the Valkey is not there in the next', async () => {
    // It asks by the hash first, so the reply says whether the server knew the script.
    const own = "return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])";
    const file = writeLock(
      `const text = ${JSON.stringify(own)};
      return {
        async acquire() {
          await redis.evalsha('${sha1Of(own)}', 1, key, ownerToken, leaseMs).catch(() => redis.eval(text, 1, key, ownerToken, leaseMs));
        },
        async release() { await redis.del(key); },
      };`,
    );

    const { reason, counterexample, replayed } = await proveCell(task('own', 'plain', { file }));

    expect(counterexample?.filter(({ sent }) => sent?.command[0] === 'EVAL')).toHaveLength(1);
    expect({ reason, replayed }).toEqual({ reason: expect.stringMatching(/^A and B/), replayed: 20 });
  });
});

describe('replay: one that was tampered with goes another way', () => {
  let found: Found;
  beforeAll(async () => {
    found = await find('5-owner-check', 'late-release');
  });

  /** What the replay says when one step is changed. */
  const changed = (at: number, more: Partial<Step>) =>
    replay(
      found.steps.map((step, index) => (index === at ? { ...step, ...more } : step)),
      found.options,
    );
  const places = (isMeant: (step: Step) => boolean) => found.steps.flatMap((step, at) => (isMeant(step) ? [at] : []));

  test('a reply that is another one', async () => {
    for (const at of places(({ reply }) => reply !== undefined)) {
      expect(await changed(at, { reply: '"tampered"' })).toMatchObject({
        step: at + 1,
        differs: { form: 'replied otherwise', values: { wanted: '"tampered"' } },
      });
    }
  });
});
