import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scenario } from '../../../loadtest/scenarios/index.ts';
import { asDrill } from '../../../loadtest/scenarios/scenario.ts';
import { playDrill } from '../../../loadtest/worlds/simulated/play.ts';
import { lockNamed } from '../../../simulation/lock-service.ts';
import { projectDir } from '../../../stack/parts.ts';
import { writeModule } from '../grade/modules.ts';

/** Plays the page under redlock, or under another lock of masters in its place. */
async function play(file = lockNamed('redlock').file) {
  const { outcome } = await playDrill(asDrill(scenario('lock-outage')), 'redlock', {
    lock: { ...lockNamed('redlock'), file },
  });
  return outcome;
}

/** Writes a lock of masters that needs the votes of more than half of these. It waits as long as it is let. */
function moreThanHalfOf(voters: 'masters' | 'answers'): string {
  return writeModule(
    `more-than-half-of-${voters}.ts`,
    `
    import { setTimeout as sleep } from 'node:timers/promises';
    import type { CreateLock } from '${join(projectDir, 'locks/lock.ts')}';

    const releaseIfOwner = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end return 1";

    export const createLock: CreateLock = ({ masters, key, ownerToken, leaseMs }) => {
      /** What each has answered in time. */
      async function ask(question) {
        const inTime = (master) => Promise.race([question(master).catch(() => undefined), sleep(50)]);
        return (await Promise.all(masters.map(inTime))).filter((answer) => answer !== undefined);
      }
      const giveBack = () => ask((master) => master.eval(releaseIfOwner, 1, key, ownerToken));
      return {
        async acquire(signal) {
          for (;;) {
            const answers = await ask((master) => master.set(key, ownerToken, 'PX', leaseMs, 'NX'));
            if (answers.filter((answer) => answer === 'OK').length > ${voters}.length / 2) return;
            await giveBack();
            await sleep(100 * Math.random(), undefined, { signal });
          }
        },
        async release() {
          await giveBack();
        },
        lost: new AbortController().signal,
      };
    };`,
  );
}

test('lock-outage: whoever needs most of the masters that answer sells when most of them are dead', async () => {
  const { verdict, reasons } = await play(moreThanHalfOf('answers'));

  expect(verdict).toBe('fail');
  expect(reasons.join(' ')).toMatch(/\d+ sales started and succeeded while no majority of the servers was up\./);
});

test('lock-outage: whoever waits for the majority, and is answered within the wait, has done nothing wrong', async () => {
  expect(await play(moreThanHalfOf('masters'))).toMatchObject({
    verdict: 'pass',
    figures: { refused: 0, slowestMs: expect.toSatisfy((ms: number) => ms > 3_000) },
  });
});
