import { expect, test } from 'vitest';
import { strategies } from '../../locks/index.ts';
import { isVirtual } from '../../simulation/lock-service.ts';
import { drillsOf } from '../loadtest/worlds/simulated/cells/play-cells.ts';
import { isNeverWrong } from '../loadtest/worlds/simulated/jitter.ts';

const SEEDS = 10;
const cells = Object.keys(strategies)
  .filter(isVirtual)
  .flatMap((lock) => drillsOf(lock).map((drill) => ({ lock, drill, name: drill.name })));

// Every drill under every lock, as test/loadtest/worlds/simulated/jitter.test.ts plays some of them.
test.each(cells.map((cell, at) => ({ ...cell, at })))(
  '$name under $lock: standstills make it unknown, and never change its verdict',
  async ({ drill, lock, at }) => {
    const seeds = Array.from({ length: SEEDS }, (_, seed) => 10_000 + SEEDS * at + seed);
    await expect(isNeverWrong(drill, lock, seeds)).resolves.toBeDefined();
  },
);
