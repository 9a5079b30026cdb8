// The published locks fail the checks that the reference says they fail, and no other.

import { expect, test } from 'vitest';
import { runCheck } from '../../../../loadtest/conformance/conformance.ts';
import { runOrders } from '../../../../loadtest/conformance/orders.ts';
import { readPeers, sourcesOf } from '../../../../loadtest/grade/external-locks.ts';
import { peerNames } from '../../../../loadtest/peers/peer.ts';
import { peerVerdicts } from '../../../../loadtest/peers/verdicts.ts';
import { checkNames, SEEDED_ORDERS } from '../../../../loadtest/staircase/conformance.ts';
import type { LockSource } from '../../../../simulation/lock-service.ts';

const peers = await readPeers();
const sources = Object.values(sourcesOf(peers));

test.each(peerNames.map((name, at) => [name, sources[at] as LockSource] as const))('%s', async (name, source) => {
  const failed: string[] = [];
  // The long sequences are left out of the table.
  for (const check of checkNames.filter((each) => each !== 'contract-long-sequences')) {
    const { verdict } = await runCheck(check, source);
    if (verdict === 'fail') failed.push(check.replace('contract-', ''));
  }
  // The first that fails under redlock is the 123rd.
  const orders = await runOrders(source, { seconds: 600, orders: 130 });
  if (orders.verdict === 'fail') failed.push(SEEDED_ORDERS);
  const { fails = '', notPromised = '' } = peerVerdicts[name] ?? {};

  expect(failed.toSorted()).toEqual(`${fails} ${notPromised}`.split(' ').filter(Boolean).toSorted());
});
