// A report for those who have made no run yet.

import { availableParallelism } from 'node:os';
import { renderPage } from '../../loadtest/report/page.ts';
import { runCells } from '../../loadtest/run/cells.ts';
import { createCountingNarrator } from '../../loadtest/run/narrator.ts';
import { cellsOf } from '../../loadtest/run/tracks.ts';
import { judgeRun } from '../../loadtest/staircase/judge-run.ts';
import { usualSettings } from '../../loadtest/worlds/simulated/play.ts';
import { simulatedWorld } from '../../loadtest/worlds/simulated/world.ts';
import { locks } from '../../locks/index.ts';
import { describeMachine } from './environment.ts';
import { virtualServers } from './run-command.ts';

/** Plays these stages in the virtual world, and returns the report: the same as that of `npm run staircase`. Rejects when `signal` aborts. */
export async function sampleReport(signal: AbortSignal, stages = Object.keys(locks)): Promise<string> {
  const startedAt = new Date();
  const cells = cellsOf('locks', stages);
  const world = simulatedWorld({ settings: usualSettings });
  signal.addEventListener('abort', world.close);
  try {
    const played = await runCells({
      cells,
      worldOf: () => world,
      isVirtual: true,
      workers: availableParallelism(),
      signal,
      narrator: createCountingNarrator(cells.length),
      folder: { writeEvents() {} },
    });
    signal.throwIfAborted();
    return renderPage({
      format: 3,
      command: 'npm run staircase',
      startedAt: startedAt.toISOString(),
      durationMs: Date.now() - startedAt.getTime(),
      ...judgeRun(played.stages, played.leftOut),
      ...played,
      environment: { ...describeMachine(), ...virtualServers },
      settings: usualSettings,
    });
  } finally {
    world.close();
  }
}
