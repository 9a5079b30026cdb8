// A sample report without servers or an earlier run: its cells are played in simulated time.

import { availableParallelism } from 'node:os';
import type { Cell } from '../../loadtest/harness/drill.ts';
import { renderPage } from '../../loadtest/report/page.ts';
import { runCells } from '../../loadtest/run/cells.ts';
import { createCountingNarrator } from '../../loadtest/run/narrator.ts';
import { judgeRun } from '../../loadtest/staircase/judge-run.ts';
import { usualSettings } from '../../loadtest/worlds/simulated/play.ts';
import { simulatedWorld } from '../../loadtest/worlds/simulated/world.ts';
import type { CommandName } from './command.ts';
import { commandLine, describeMachine } from './environment.ts';
import { virtualServers } from './run-command.ts';

/** Plays the cells for a command and returns the report. Rejects when `signal` aborts. */
export async function sampleReport(command: CommandName, cells: Cell[], signal: AbortSignal): Promise<string> {
  const startedAt = new Date();
  const world = simulatedWorld({ settings: usualSettings });
  signal.addEventListener('abort', world.close);
  try {
    const played = await runCells({
      cells,
      worldOf: () => world,
      isVirtual: true,
      workers: Math.min(availableParallelism(), cells.length),
      signal,
      narrator: createCountingNarrator(cells.length),
      folder: { writeEvents() {} },
    });
    signal.throwIfAborted();
    return renderPage({
      format: 3,
      command: commandLine(command),
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
