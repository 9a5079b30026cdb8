import { expect, test } from 'vitest';
import { createNode } from '../../../locks/drivers/cohort-node.ts';
import { openLab } from '../lab.ts';

const lab = openLab();

test('cohort-node: a lock that is not here is not passed on, and the error says where the node stands', () => {
  const { redis } = lab.process('0-none');
  const node = createNode({ redis, key: 'lock', hasTokens: false, onIdle() {} });

  expect(() => node.passOn()).toThrow(/^Nobody holds lock here: its node is idle\.$/);
});
