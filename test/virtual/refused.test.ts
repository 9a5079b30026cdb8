// Redis answers at once that it carries nothing out.

import { expect, onTestFinished, test } from 'vitest';
import { strategies } from '../../locks/index.ts';
import { isVirtual } from '../../virtual/lock-service.ts';
import { LEASE_MS, ownLab } from './own-lab.ts';

test.each(Object.keys(strategies).filter(isVirtual))(
  '%s: a sale that Redis refuses ends with its reason, and is not in doubt',
  async (lock) => {
    const lab = await ownLab(lock, strategies[lock]?.backend === 'masters' ? { masters: 3 } : {});
    lab.redis.addReplica(() => Number.POSITIVE_INFINITY);
    const servers = [lab.redis, ...lab.masters];
    const setReplicas = (count: number) => {
      for (const server of servers) server.execute(0, ['CONFIG', 'SET', 'min-replicas-to-write', count]);
    };
    onTestFinished(() => setReplicas(0));
    const inside = lab.sell(0, { pauseMs: 100 });
    await lab.pass(50);

    setReplicas(1);
    const later = lab.sell(1);
    await lab.ended(inside, later);

    for (const { answer } of [inside, later]) {
      const detail = expect.stringMatching(/^Redis refused it before the sale was written: NOREPLICAS /);
      expect(answer()).toMatchObject({ status: 503, code: 'STORE_UNAVAILABLE', definite: true, detail });
    }
    expect([lab.stock(), lab.node(0).service.state().unreleased]).toEqual([100, 0]);
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
