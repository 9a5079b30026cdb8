import { expect, test } from 'vitest';
import { openLab } from './lab.ts';

const lab = openLab();
const figure = { leaseMs: 10_000, renewEveryMs: 3_000, retryDelayMs: 1 };
const leaseLeft = () => lab.redis('PTTL', 'lock');

/** A holds in a process of its own, and B waits in another one. */
async function startFigure() {
  const [p, q] = lab.processes('8-auto-renew', 2);
  const a = p.lock(figure);
  await lab.done(a.acquire());
  return { p, a, entered: lab.follow(q.lock(figure).acquire()) };
}

/** When the lease began anew, until this moment. */
async function renewalsUntil(end: number) {
  const renewed: number[] = [];
  while (lab.now() < end) {
    const before = leaseLeft() as number;
    await lab.advance(1);
    if ((leaseLeft() as number) > before) renewed.push(lab.now());
  }
  return renewed;
}

test('auto-renew: the figure of the course: a task of 11 s is renewed at 3, 6 and 9, and released at 11', async () => {
  const { a, entered } = await startFigure();

  expect(await renewalsUntil(11_000)).toEqual([3_000, 6_000, 9_000]);
  expect(entered.state).toBe('pending');
  await lab.done(a.release());

  expect([lab.now(), lab.redis('EXISTS', 'lock')]).toEqual([11_000, 0]);
});

test('auto-renew: the figure of the course: the lock of a holder that dies after second 9 is free at 19', async () => {
  const { p, entered } = await startFigure();
  await lab.advance(9_500);
  p.kill();

  await lab.advance(19_000 - 9_500);
  expect(entered.state).toBe('pending');
  await lab.done(entered);

  // Redis deletes a key when its time is over, and B tries each millisecond.
  expect(lab.now()).toBe(19_001);
});
