import { describe, test } from 'vitest';
import { backendOf, beyond, commandsOf } from '../../../../locks/index.ts';
import { BUSY, comesOutAsSigned, ownTargets, SHARED_LIMIT_MS } from '../../../loadtest/drills/own-targets.ts';
import { cellsOf, isRun } from './chosen-cells.ts';

/** The Redis that is installed may lack the commands of the others: embedded.test.ts runs them. */
const stages = Object.keys(beyond).filter((name) => commandsOf(name) === undefined);
const cells = cellsOf(stages).filter(isRun);
const { run } = ownTargets(4, [...new Set(stages.map(backendOf))], { hasReplica: true });

describe.concurrent('beyond stage 8: every cell that is chosen comes out as the staircase draws it', {
  timeout: SHARED_LIMIT_MS,
}, () => {
  test.each(cells.filter(({ name }) => !BUSY.includes(name)))('$name under $stage: $sign', async (cell) => {
    await comesOutAsSigned(run, cell);
  });
});
