import { expect, test } from 'vitest';
import { createNode } from '../../../locks/drivers/cohort-node.ts';
import { ownRedis } from '../own-redis.ts';

const { connect, key } = ownRedis();

test('cohort-node: a lock that is not here is not passed on, and the error says where the node stands', () => {
  const node = createNode({ redis: connect(), key: key(), hasTokens: false, onIdle() {} });

  expect(() => node.passOn()).toThrow(/^Nobody holds lock:.* here: its node is idle\.$/);
});
