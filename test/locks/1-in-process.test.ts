import { expect, test } from 'vitest';
import { openLab } from './lab.ts';

const lab = openLab();

test('1-in-process: waiters enter one at a time, the longest waiter first', async () => {
  const p = lab.process('1-in-process');
  const events: string[] = [];
  const waiters = ['a', 'b', 'c', 'd'].map(async (name) => {
    const lock = p.lock();
    await lock.acquire();
    events.push(`${name} enters`);
    await p.world.sleep(10);
    events.push(`${name} leaves`);
    await lock.release();
  });

  await lab.done(Promise.all(waiters));

  expect(events).toEqual(['a', 'b', 'c', 'd'].flatMap((name) => [`${name} enters`, `${name} leaves`]));
  expect([lab.now(), p.sent]).toEqual([40, []]);
});
