import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scenario } from '../../../loadtest/scenarios/index.ts';
import { asDrill } from '../../../loadtest/scenarios/scenario.ts';
import { playDrill } from '../../../loadtest/worlds/simulated/play.ts';
import { lockNamed } from '../../../simulation/lock-service.ts';
import { projectDir } from '../../../stack/parts.ts';
import { writeModule } from '../grade/modules.ts';

/** Plays the page under a lock, or under another one in its place. */
async function play(stage: string, file = lockNamed(stage).file) {
  const { outcome } = await playDrill(asDrill(scenario('slow-clock')), stage, { lock: { ...lockNamed(stage), file } });
  return outcome;
}

/** Writes a lock that is lost when this part of its lease is over by its own clock. */
function lostAfter(part: number): string {
  return writeModule(
    `lost-after-${part}.ts`,
    `
    import { type CreateLock, LockNotHeldError } from '${join(projectDir, 'locks/lock.ts')}';

    export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, onLeaseLost }) => {
      const over = new AbortController();
      function lose() {
        onLeaseLost();
        over.abort(new LockNotHeldError(key));
      }
      let timer;
      return {
        async acquire(signal) {
          let askedAt;
          do {
            signal?.throwIfAborted();
            askedAt = performance.now();
          } while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK');
          timer = setTimeout(lose, askedAt + ${part} * leaseMs - performance.now());
        },
        async release() {
          clearTimeout(timer);
          if ((await redis.get(key)) === ownerToken) await redis.del(key);
        },
        lost: over.signal,
      };
    };`,
  );
}

test.each([
  ['with no room for a clock that is slow', 1, 'fail'],
  ['with room for it', 0.9, 'pass'],
])('slow-clock: a holder that reckons its lease by its own clock, %s', async (_what, part, verdict) => {
  expect(await play('blocking', lostAfter(part))).toMatchObject({ verdict, figures: { soldMeanwhile: 3 } });
});

test.each([
  ['bounded', 'fail'],
  ['redlock', 'fail'],
  ['fenced', 'pass'],
])('slow-clock under %s: where the stock does not judge, two sales are lost', async (stage, verdict) => {
  const lostUpdates = verdict === 'fail' ? 2 : 0;
  expect(await play(stage)).toMatchObject({ verdict, figures: { soldMeanwhile: 3, lostUpdates } });
});

test('slow-clock: a clock that is right says nothing of one that is slow', async () => {
  const inTime = asDrill(scenario('slow-clock'));
  const { outcome } = await playDrill(inTime, 'bounded', {
    wrap: (target) => ({
      ...target,
      nodes: target.nodes.map((node) => ({ ...node, runClock: () => node.runClock?.(1) ?? Number })),
    }),
  });

  expect(outcome).toMatchObject({ verdict: 'unknown', reasons: ['The clock of node-1 was not slow.'] });
});
