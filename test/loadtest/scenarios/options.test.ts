import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scenario } from '../../../loadtest/scenarios/index.ts';
import { asDrill } from '../../../loadtest/scenarios/scenario.ts';
import { playDrill } from '../../../loadtest/worlds/simulated/play.ts';
import { lockNamed } from '../../../simulation/lock-service.ts';
import { projectDir } from '../../../stack/parts.ts';
import { writeModule } from '../grade/modules.ts';

/** Plays the page under a lock, or under another file in its place. */
async function play(name: string, stage: string, file = lockNamed(stage).file) {
  const said: object[] = [];
  const { outcome } = await playDrill(asDrill(scenario(name)), stage, {
    lock: { ...lockNamed(stage), file },
    narrate: async (sentence) => void said.push(sentence),
  });
  return { outcome, said };
}

/** A lock of ours with something else in the place of a part of it. */
function changed(name: string, file: string, part: string, other: string) {
  const source = readFileSync(join(projectDir, file), 'utf8');
  expect(source).toContain(part);
  return writeModule(name, source.replace(part, other).replaceAll("from '../", `from '${projectDir}/locks/`));
}

const blocking = 'locks/beyond/blocking.ts';
const takes = 'if (ownLeaseMs !== undefined && !watchdog) return take(ownLeaseMs, signal);';

test('given-lease: the sale without a lease is renewed, and the one that was given one is not', async () => {
  const { outcome, said } = await play('given-lease', 'blocking');

  expect(outcome).toMatchObject({ verdict: 'fail', figures: { overlaps: 1, lostUpdates: 1, sold: 3, inDoubt: 1 } });
  expect(said).toContainEqual(expect.objectContaining({ form: 'came under a lease' }));
});

test('given-lease: a watchdog that renews a lease that was given makes it hold', async () => {
  const renews = changed('renews.ts', blocking, takes, '');

  expect((await play('given-lease', 'blocking', renews)).outcome).toMatchObject({ verdict: 'pass' });
});

test('given-lease: a lock that renews no lease fails before a lease is given', async () => {
  const never = changed('never-renews.ts', blocking, 'watchdog ??= startWatchdog', 'if (watchdog) startWatchdog');

  const { outcome, said } = await play('given-lease', 'blocking', never);

  expect(outcome).toMatchObject({ verdict: 'fail', figures: { overlaps: 1 } });
  expect(said).not.toContainEqual(expect.objectContaining({ form: 'came under a lease' }));
});

test('one-user: a lock that every user shares keeps another user out, which is no pass', async () => {
  const own = 'const { redis, key, ownerToken, leaseMs } = options;';
  const one = "const { redis, ownerToken, leaseMs } = options;\n  const key = '{user}:lock';";
  const shared = changed('shared.ts', 'locks/beyond/fenced.ts', own, one);

  const { outcome } = await play('one-user', 'fenced', shared);

  expect(outcome).toMatchObject({
    verdict: 'fail',
    reasons: expect.arrayContaining(['C did not enter while A was inside, although its user is another one.']),
  });
});

test('one-user: it holds, and yet a unit that two users bought at once is lost', async () => {
  const { outcome, said } = await play('one-user', '8-auto-renew');

  expect(outcome).toMatchObject({ verdict: 'pass', figures: { overlaps: 0 } });
  expect(said.at(-1)).toEqual({ form: 'all ended', values: { left: 99 } });
});

test('course-figure: renewed at 3, 6 and 9 after each begins, and the lock of the dead one is free at 19', async () => {
  const at: Record<string, number[]> = {};
  const { outcome } = await playDrill(asDrill(scenario('course-figure')), '8-auto-renew', {
    async narrate({ form }, ms) {
      at[form] = [...(at[form] ?? []), ms];
    },
  });

  const [first = 0, second = 0] = at['got in'] ?? [];
  const seconds = (at['lease renewed'] ?? []).map((ms, index) =>
    Math.round((ms - (index < 3 ? first : second)) / 1_000),
  );
  expect(seconds).toEqual([3, 6, 9, 3, 6, 9]);
  const [sold = 0, taken = 0] = (at['sold'] ?? []).map((ms, index) => (ms - (index === 0 ? first : second)) / 1_000);
  expect([Math.round(sold), Math.round(taken)]).toEqual([11, 19]);
  expect(outcome).toMatchObject({ verdict: 'pass', figures: { sold: 3, inDoubt: 1 } });
});

test('course-figure: a stage that renews nothing has nothing to show', async () => {
  expect((await play('course-figure', '7-reentrant')).outcome).toMatchObject({
    verdict: 'unknown',
    reasons: ['node-1 did not renew the lease.'],
  });
});
