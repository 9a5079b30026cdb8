import { expect, test } from 'vitest';
import { aborted, once, openLab } from './lab.ts';

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

test('1-in-process: the other process has its own mutex, and enters while this one is inside', async () => {
  const [p, q] = lab.processes('1-in-process', 2);
  await lab.done(p.lock().acquire());

  await lab.done(q.lock().acquire(), 0);

  await expect(lab.done(p.lock().acquire(once))).rejects.toMatchObject(aborted);
});
