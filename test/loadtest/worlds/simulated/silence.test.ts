// How long a drill may say nothing, and what those who follow it see meanwhile.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { play, StuckError } from '../../../../loadtest/harness/play.ts';
import type { Target } from '../../../../loadtest/harness/target.ts';
import { openTestBed } from '../../../../loadtest/harness/test-bed.ts';
import { because } from '../../../../loadtest/narration/reasons.ts';
import { readScenario } from '../../../../loadtest/scenarios/read.ts';
import { machineClock } from '../../../../loadtest/worlds/real/machine.ts';
import { inVirtualWorld } from '../../../../loadtest/worlds/simulated/play.ts';
import { lockNamed } from '../../../../simulation/lock-service.ts';
import { LEASE_MS, run, withNodes } from './own-target.ts';

const pageOf = (...lines: string[]) =>
  readScenario(['a-page', 'Is a sale lost?', ...lines, 'holds when no sale is lost'].join('\n'));

test('a drill that waits for what never comes is ended, and the stack is as it was', async () => {
  const silent = pageOf('A sells at node-1 and is held inside', 'A ends');

  await expect(run(silent, '8-auto-renew')).rejects.toThrow(
    /^The drill is stuck: it has made no progress for 3 min\.$/,
  );
});

test('a judgement that never ends is ended, too', async () => {
  const page = pageOf('all sales end');
  const steps = page.steps.map((step) => ({ ...step, demands: [() => new Promise<never>(() => {})] }));

  await expect(run({ ...page, steps }, '4-ttl')).rejects.toThrow(StuckError);
});

test('what a drill is stuck in comes to its end before the stack is put back', async () => {
  const seen: string[] = [];
  let stop = () => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const step = stopped.then(() => nextTurn()).then(() => seen.push('ended'));
  const close = () => {
    seen.push('put back');
    return Promise.resolve({ standstillMs: 0, events: [] });
  };

  const played = play(
    { clock: machineClock, stop, close },
    Promise.reject(new StuckError(because('text', { text: 'It is stuck.' }), step)),
  );

  await expect(played).rejects.toThrow('It is stuck.');
  expect(seen).toEqual(['ended', 'put back']);
});

test('while somebody reads a sentence, no drill is silent for too long', async () => {
  const talking = pageOf('1 s passes', '', '1 s passes');
  const narrateOn =
    ({ clock }: Target) =>
    () =>
      clock.sleep(200_000);

  expect(await run(talking, '8-auto-renew', { narrateOn })).toMatchObject({ verdict: 'pass' });
});

test('a drill whose nodes tell nothing does not begin, and nobody looks at Redis for it any more', async () => {
  await inVirtualWorld({ lock: lockNamed('4-ttl'), leaseMs: LEASE_MS }, async (target, lab) => {
    const silent = withNodes(target, () => ({ follow: () => ({ close() {} }) }));
    const timing = { leaseMs: LEASE_MS };

    const opened = openTestBed({ target: silent, stage: '4-ttl', timing, stock: 100, narrate: async () => {} });

    await expect(opened).rejects.toThrow('The events of a node did not arrive.');
    const asked = vi.spyOn(lab.redis, 'executeAll');
    await target.clock.sleep(1_000);
    expect(asked).not.toHaveBeenCalled();
  });
});
