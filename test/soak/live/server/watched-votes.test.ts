import { describe, expect, test } from 'vitest';
import { openBoard } from '../../../../live/server/board.ts';
import { openFreePlay } from '../../../../live/server/free-play.ts';
import { ownTargets } from '../../../loadtest/drills/own-targets.ts';
import { until } from '../../../services/inventory/node-under-test.ts';

const LEASE_MS = 2_000;

describe('redlock on the page', () => {
  const { use } = ownTargets(1, ['masters']);

  test('whose lock it is, and for how long, is what most masters say', async () => {
    await use(async (target) => {
      const board = openBoard({ target, stage: 'redlock', drill: null, onChange() {} });
      const free = await openFreePlay({
        target: board.target,
        stage: 'redlock',
        parts: board.parts,
        observe: board.observe,
        leaseMs: LEASE_MS,
        narrate() {},
        onChange() {},
      });
      const lock = () => board.view().lock;
      try {
        await free.act({ act: 'hold-sale', at: 'node-1' });
        await until('node-1 has most votes', async () => lock()?.node === 'node-1');
        expect(lock()).toMatchObject({ holder: expect.stringMatching(/^sale \d+ on node-1$/), leaseMs: LEASE_MS });
        expect(lock()?.leftMs).toBeGreaterThan(0);
        expect(lock()?.leftMs).toBeLessThanOrEqual(LEASE_MS);
        await until('the node has told that it is inside', async () => board.view().nodes[0]?.inside.length === 1);
        // Its node stands still: nobody renews, and the lease runs out though the sale is still inside.
        await free.act({ act: 'stop', at: 'node-1' });
        await until('the votes are over', async () => lock() === null);
        expect(board.view().nodes[0]?.inside).toHaveLength(1);
      } finally {
        await free.undo();
        await free.close();
        board.close();
      }
    });
  });
});
