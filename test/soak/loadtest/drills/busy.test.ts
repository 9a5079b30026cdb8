import { describe, test } from 'vitest';
import { backendOf, strategies } from '../../../../locks/index.ts';
import { BUSY, comesOutAsSigned, ownTargets, SHARED_LIMIT_MS } from '../../../loadtest/drills/own-targets.ts';
import { type ChosenCell, cellsOf, isRun } from './chosen-cells.ts';

const stages = Object.keys(strategies);
const cells = cellsOf(stages).filter((cell) => isRun(cell) && BUSY.includes(cell.name));
/** During an outage its buyers mostly wait. */
const waits = ({ name }: ChosenCell) => name === 'redis-outage';
const { run } = ownTargets(2, [...new Set(stages.map(backendOf))], { hasReplica: true });

async function comesOut(cell: ChosenCell) {
  await comesOutAsSigned(run, cell);
}

describe('drills that keep both cores busy come out as the staircase draws them', { timeout: SHARED_LIMIT_MS }, () => {
  test.each(cells.filter((cell) => !waits(cell)))('$name under $stage: $sign', comesOut);

  describe.concurrent('a few at a time', () => {
    test.each(cells.filter(waits))('$name under $stage: $sign', comesOut);
  });
});
