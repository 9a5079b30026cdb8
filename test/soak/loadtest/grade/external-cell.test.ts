import { expect, test } from 'vitest';
import { runExternalCell } from '../../../../loadtest/grade/external-cell.ts';
import type { Drill, DrillContext } from '../../../../loadtest/harness/drill.ts';
import type { Target } from '../../../../loadtest/harness/target.ts';
import { startRedis } from '../../../services/inventory/node-under-test.ts';

test('an external lock that has locked the harness out of Redis: its drill is unknown, and the stack is not used again', async () => {
  const redis = await startRedis();
  await redis.client.call('ACL', 'SETUSER', 'default', '-keys', '-flushdb');
  const target = {
    nodes: [],
    stack: { redis: { url: redis.url }, masters: [] },
    partDied: new Promise<string>(() => {}),
  } as unknown as Target;
  const drill = {
    kind: 'steps',
    async run() {
      throw new Error('The drill ran.');
    },
  } as unknown as Drill;
  const context = { target, stage: 'mine', settings: { leaseMs: 600 }, signal: new AbortController().signal };

  const { outcome, isStackSound } = await runExternalCell(drill, context as unknown as DrillContext);

  expect(outcome).toMatchObject({ verdict: 'unknown', reasons: [expect.stringMatching(/^NOPERM/)] });
  expect(isStackSound).toBe(false);
});
