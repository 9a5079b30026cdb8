import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import type { LockView, StackView } from '../../../../live/contract.ts';
import { openBoard } from '../../../../live/server/board.ts';
import { openFreePlay } from '../../../../live/server/free-play.ts';
import type { Target } from '../../../../loadtest/harness/target.ts';
import { lockKey } from '../../../../services/inventory/store.ts';
import { ownTargets } from '../../../loadtest/drills/own-targets.ts';
import { until } from '../../../services/inventory/node-under-test.ts';

const inRedis = ownTargets(1);
const inZookeeper = ownTargets(1, ['zookeeper']);

/** Free play under a stage: `lock` is what the page shows of the lock. */
async function playing(
  target: Target,
  stage: string,
  act: (
    press: (act: 'hold-sale' | 'stop', at: string) => Promise<void>,
    lock: () => LockView | null,
    view: () => StackView,
  ) => Promise<void>,
) {
  const board = openBoard({ target, stage, drill: null, onChange() {} });
  const free = await openFreePlay({
    target: board.target,
    stage,
    parts: board.parts,
    observe: board.observe,
    leaseMs: 2_000,
    narrate() {},
    onChange() {},
  });
  try {
    await act(
      (act, at) => free.act({ act, at }),
      () => board.view().lock,
      board.view,
    );
  } finally {
    await free.undo();
    await free.close();
    board.close();
  }
}

const isOf = (node: string) => new RegExp(`^sale \\d+ on ${node}$`);

describe('the fencing token of the lock', () => {
  test.each(['fenced', 'fenced-writes', 'multi', 'combine'])(
    '%s: the page shows the token that Redis has made for the holder, and a larger one for the next',
    async (stage) => {
      await inRedis.use((target) =>
        playing(target, stage, async (press, lock) => {
          const redis = new Redis(target.stack?.redis.url ?? '');
          const made = () => redis.get(`${lockKey('001', stage)}:tokens`);
          try {
            await press('hold-sale', 'node-1');
            await until('node-1 holds, with a token', async () => lock()?.fencingToken !== undefined);
            const [first, firstMade] = [lock(), await made()];
            await press('hold-sale', 'node-2');
            await press('hold-sale', 'node-1');
            await until('node-2 holds, with a token', async () => {
              const now = lock();
              return now?.node === 'node-2' && now.fencingToken !== undefined;
            });
            const [second, secondMade] = [lock(), await made()];

            expect(first).toMatchObject({ holder: expect.stringMatching(isOf('node-1')), fencingToken: firstMade });
            expect(second).toMatchObject({ holder: expect.stringMatching(isOf('node-2')), fencingToken: secondMade });
            expect(BigInt(second?.fencingToken ?? 0)).toBeGreaterThan(BigInt(first?.fencingToken ?? 0));
            await press('hold-sale', 'node-2');
            await until('nobody holds', async () => lock() === null);
          } finally {
            redis.disconnect();
          }
        }),
      );
    },
  );

  test('8-auto-renew: a lock without tokens shows none', async () => {
    await inRedis.use((target) =>
      playing(target, '8-auto-renew', async (press, lock, view) => {
        await press('hold-sale', 'node-1');
        await until('it holds', async () => lock()?.node === 'node-1');
        await until('its node has said so', async () => view().nodes[0]?.inside.length === 1);

        expect(lock()).not.toHaveProperty('fencingToken');
      }),
    );
  });

  test('zookeeper: who was let in last, with its token; who lost the lock before is shown no more', async ({
    skip,
  }) => {
    await inZookeeper.use(async (target) => {
      skip(target.lacks.zookeeper !== undefined, target.lacks.zookeeper);
      await playing(target, 'zookeeper', async (press, lock) => {
        await press('hold-sale', 'node-1');
        await until('node-1 holds', async () => lock()?.node === 'node-1');
        const first = lock();
        await press('stop', 'node-1');
        await press('hold-sale', 'node-2');
        await until('the session of node-1 is over', async () => lock()?.node === 'node-2');
        const second = lock();
        await press('hold-sale', 'node-2');
        await until('node-2 has left', async () => lock() === null);

        expect(first).toEqual({
          holder: expect.stringMatching(isOf('node-1')),
          node: 'node-1',
          leaseMs: 0,
          fencingToken: expect.stringMatching(/^\d+$/),
        });
        expect(BigInt(second?.fencingToken ?? 0)).toBeGreaterThan(BigInt(first?.fencingToken ?? 0));
        await press('stop', 'node-1');
      });
    });
  });
});
