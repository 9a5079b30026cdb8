import { expect, test } from 'vitest';
import { NO_ANSWER, openLab } from '../lab.ts';

const lab = openLab();
const notReplicated = { name: 'NotReplicatedError', code: 'NOT_REPLICATED' };

// Here so many replicas confirm as a test says. What WAIT means on real servers is in wire/replicated.test.ts.

test.each([
  [30_000, 300],
  [300, 60],
])('replicated: a lease of %i ms: a replica is waited for %i ms at most', async (leaseMs, limitMs) => {
  const p = lab.process('replicated');

  await lab.done(p.lock({ leaseMs }).acquire());

  expect(p.sent).toEqual(['acquire-reentrant', `wait for 1 for ${limitMs}`]);
});

test('replicated: without a replica that confirms nobody enters, and the lock is given back', async () => {
  const p = lab.process('replicated');
  p.confirming(0);

  await expect(lab.done(p.lock().acquire())).rejects.toMatchObject(notReplicated);

  expect(lab.redis('EXISTS', 'lock')).toBe(0);
});

test('replicated: a lock that can’t be given back may be held: the error says so, and a release gives it back', async () => {
  const p = lab.process('replicated');
  const lock = p.lock();
  p.confirming(0);
  const away = p.fail('release-reentrant');

  const error = await lab.done(lock.acquire()).catch((reason) => reason);

  expect(error).toMatchObject({ ...notReplicated, cause: { message: NO_ANSWER } });
  away.letGo();
  await lab.done(lock.release());
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
