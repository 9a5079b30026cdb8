import { expect, test } from 'vitest';
import { openLab } from '../lab.ts';

const lab = openLab();
const notReplicated = { name: 'NotReplicatedError', code: 'NOT_REPLICATED' };

// Here so many replicas confirm as a test says. What WAIT means on real servers is in wire/replicated.test.ts.

test('replicated: without a replica that confirms nobody enters, and the lock is given back', async () => {
  const p = lab.process('replicated');
  p.confirming(0);

  await expect(lab.done(p.lock().acquire())).rejects.toMatchObject(notReplicated);

  expect(lab.redis('EXISTS', 'lock')).toBe(0);
});

test('replicated: a write that no replica has heard of is not confirmed', async () => {
  const p = lab.process('replicated');
  const lock = p.lock();
  await lab.done(lock.acquire());
  await lab.done(Promise.all([lock.confirm?.()]));
  p.confirming(0);

  await expect(lab.done(Promise.all([lock.confirm?.()]))).rejects.toMatchObject(notReplicated);
});
