// Redis answers at once that it carries nothing out.

import { expect, onTestFinished, test } from 'vitest';
import { isSemaphore, strategies } from '../../locks/index.ts';
import { isVirtual } from '../../simulation/lock-service.ts';
import { LEASE_MS, ownLab } from './own-lab.ts';

/** A lab in which `setReplicas(1)` has Redis refuse every write. */
async function labThatRefuses(lock: string) {
  const lab = await ownLab(lock, strategies[lock]?.backend === 'masters' ? { masters: 3 } : {});
  lab.redis.addReplica(() => Number.POSITIVE_INFINITY);
  const setReplicas = (count: number) => {
    for (const server of [lab.redis, ...lab.masters])
      server.execute(0, ['CONFIG', 'SET', 'min-replicas-to-write', count]);
  };
  onTestFinished(() => setReplicas(0));
  return { lab, setReplicas, unreleased: () => lab.node(0).service.state().unreleased };
}

const virtual = Object.keys(strategies).filter(isVirtual);
const isRefused = {
  ...{ status: 503, code: 'STORE_UNAVAILABLE', definite: true },
  detail: expect.stringMatching(/^Redis refused it before the sale was written: NOREPLICAS /),
};

test.each(virtual)('%s: a sale that Redis refuses ends with its reason, and is not in doubt', async (lock) => {
  const { lab, setReplicas } = await labThatRefuses(lock);
  const inside = lab.sell(0, { pauseMs: 100 });
  await lab.pass(50);

  setReplicas(1);
  const later = lab.sell(1);
  await lab.ended(inside, later);

  expect([inside.answer(), later.answer()]).toMatchObject([isRefused, isRefused]);
  // By then no lease lasts.
  await lab.pass(2 * LEASE_MS);
  expect([lab.stock(), lab.node(1).service.state().unreleased]).toEqual([100, 0]);
});

// Under a semaphore the next sale need not wait for it.
test.each(virtual.filter((name) => !isSemaphore(name)))(
  '%s: a lock whose release Redis refuses is released when it takes writes again',
  async (lock) => {
    const { lab, setReplicas, unreleased } = await labThatRefuses(lock);
    const inside = lab.sell(0, { pauseMs: 100 });
    await lab.pass(50);
    setReplicas(1);
    await lab.ended(inside);

    setReplicas(0);
    const next = lab.sell(1);
    await lab.ended(next);

    // The lease of the first one would end later.
    expect([next.answer(), next.endedAt() < LEASE_MS, unreleased()]).toMatchObject([{ outcome: 'sold' }, true, 0]);
  },
);

test.each([
  ['2-recursive-retry', 1],
  ['3-spin', 1],
  ['4-ttl', 0],
  ['8-auto-renew', 0],
])('%s: after a refusal of ten leases %d locks may be left, and the next sale sells', async (lock, left) => {
  const { lab, setReplicas, unreleased } = await labThatRefuses(lock);
  const inside = lab.sell(0, { pauseMs: 100 });
  await lab.pass(50);
  setReplicas(1);
  await lab.ended(inside);
  expect(unreleased()).toBe(1);

  await lab.pass(10 * LEASE_MS);

  expect(unreleased()).toBe(left);
  setReplicas(0);
  const next = lab.sell(1);
  await lab.ended(next);
  expect([next.answer(), unreleased()]).toMatchObject([{ outcome: 'sold' }, 0]);
});

test.each(['7-reentrant', '8-auto-renew', 'blocking', 'fenced', 'read-write'])(
  '%s: the inner release of a nested call is refused, the outer one is not: nothing is left',
  async (lock) => {
    const { lab, setReplicas } = await labThatRefuses(lock);
    let releases = 0;
    lab.proxy(0).watch(({ script = '' }) => {
      if (!script.startsWith('release')) return;
      releases += 1;
      setReplicas(releases === 1 ? 1 : 0);
    });
    const sale = lab.sell(0, { nestedCall: true });
    await lab.ended(sale);
    expect(sale.answer()).toMatchObject({ code: 'STORE_UNAVAILABLE', definite: true });

    const next = lab.sell(1);
    await lab.ended(next);

    expect([next.answer(), next.endedAt() < LEASE_MS]).toMatchObject([{ outcome: 'sold' }, true]);
  },
);

test('a lock that no server lets go of is given up again for one lease, and then no more', async () => {
  const lab = await ownLab('redlock', { masters: 3 });
  const unreleased = () => lab.node(0).service.state().unreleased;
  const sale = lab.sell(0, { pauseMs: 100 });
  await lab.pass(50);
  for (const master of lab.masters) master.stop();
  await lab.ended(sale);
  await lab.pass(LEASE_MS / 2);
  const halfWay = unreleased();
  await lab.pass(2 * LEASE_MS);

  expect([halfWay, unreleased()]).toEqual([1, 0]);
});
