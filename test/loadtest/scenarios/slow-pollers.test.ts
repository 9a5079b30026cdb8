// Locks that ask seldom whether they are free. How often a lock asks must not decide whether it holds: attempts count, not milliseconds.

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { scenario } from '../../../loadtest/scenarios/index.ts';
import { asDrill } from '../../../loadtest/scenarios/scenario.ts';
import { playDrill } from '../../../loadtest/worlds/simulated/play.ts';
import { projectDir } from '../../../stack/parts.ts';
import { writeModule } from '../grade/modules.ts';

/** How a release deletes the key. */
const releases = {
  'looks at nothing': 'await redis.del(key)',
  'looks first': '(await redis.get(key)) === token ? await redis.del(key) : 0',
  'looks and deletes in one step': `await redis.eval('return redis.call("GET", KEYS[1]) == ARGV[1] and redis.call("DEL", KEYS[1]) or 0', 1, key, token)`,
};
type Release = keyof typeof releases;

/** Writes a lock with a lease of the playing that asks every so many milliseconds. */
function written(release: Release, everyMs: number): string {
  return writeModule(
    'slow-poller.ts',
    `
    import { randomUUID } from 'node:crypto';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { type CreateLock, LockNotHeldError } from '${join(projectDir, 'locks/lock.ts')}';

    export const createLock: CreateLock = ({ redis, key, leaseMs }) => {
      const token = randomUUID();
      return {
        async acquire(signal) {
          while ((await redis.set(key, token, 'PX', leaseMs, 'NX')) !== 'OK') await sleep(${everyMs}, undefined, { signal });
        },
        async release() {
          if ((${releases[release]}) === 0) throw new LockNotHeldError(key);
        },
      };
    };`,
  );
}

async function play(drill: string, release: Release, everyMs: number) {
  const lock = { name: 'slow-poller', file: written(release, everyMs), facts: { backend: 'redis' as const } };
  const { outcome } = await playDrill(asDrill(scenario(drill)), lock.name, { lock });
  return { verdict: outcome.verdict, reasons: outcome.reasons };
}

describe.each([150, 400, 1_000])('a lock that asks every %i ms', (everyMs) => {
  test.each(['late-release', 'slow-holder', 'paused-process', 'late-write', 'crossed-write'])(
    '%s: wrong as stage 4, and never said to hold',
    async (drill) => {
      expect(await play(drill, 'looks at nothing', everyMs)).not.toMatchObject({ verdict: 'pass' });
    },
  );

  test('late-release: caught as well when it looks first', async () => {
    expect(await play('late-release', 'looks first', everyMs)).toMatchObject({ verdict: 'fail' });
  });

  test.each(['late-release', 'slow-holder'])('%s: not accused when it looks and deletes in one step', async (drill) => {
    expect(await play(drill, 'looks and deletes in one step', everyMs)).not.toMatchObject({ verdict: 'fail' });
  });
});
