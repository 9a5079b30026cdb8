import { setTimeout as sleep } from 'node:timers/promises';
import { numberOf, strategies } from '../locks/index.ts';
import type { DrillSettings } from './drill.ts';
import type { SaleEvent } from './lab-client.ts';
import type { Narrator } from './narrator.ts';
import type { Cell } from './plan.ts';
import type { DrillResult, StageResult } from './results.ts';
import type { RunFolder } from './run-folder.ts';
import { drills as columns, taughtVerdict } from './staircase.ts';
import type { Targets } from './targets.ts';

/** How long the cause of an error may take to show, in milliseconds. */
const CAUSE_LIMIT_MS = 500;

/** The user stopped the run. */
export class Interrupted extends Error {}

export interface RunOptions {
  cells: Cell[];
  /** How many drills that go step by step run at the same time, each on a stack of its own. 1: all cells in their order. */
  workers: number;
  targets: Targets;
  settings: DrillSettings;
  /** Aborts when the run is to stop: with Interrupted, or with an error that says what has died. */
  signal: AbortSignal;
  narrator: Narrator;
  folder: RunFolder;
}

/** Runs the cells. What an abort kept from running is left out, as `stage drill`. */
export async function runCells(options: RunOptions): Promise<{ stages: StageResult[]; leftOut: string[] }> {
  const { cells, workers, targets, settings, signal, narrator, folder } = options;
  const results = new Map<Cell, DrillResult>();

  if (workers === 1) await work([...cells], 0);
  else {
    // A drill under load has the machine to itself. The others mostly wait: the longest first, so that all end together.
    await work(cells.filter(isLoad), 0);
    const steps = cells.filter((cell) => !isLoad(cell)).sort((a, b) => secondsOf(b) - secondsOf(a));
    const ended = await Promise.allSettled(Array.from({ length: workers }, (_, worker) => work(steps, worker)));
    for (const end of ended) if (end.status === 'rejected') throw end.reason;
  }
  return { stages: stagesOf(results), leftOut: cells.filter((cell) => !results.has(cell)).map(nameOf) };

  async function work(queue: Cell[], worker: number) {
    for (let cell = queue.shift(); cell && !signal.aborted; cell = queue.shift()) {
      const result = await runOne(cell, worker).catch((error) => {
        // The others end what they are at, and begin nothing more.
        queue.splice(0);
        throw error;
      });
      if (result) results.set(cell, result);
    }
  }

  async function runOne(cell: Cell, worker: number): Promise<DrillResult | undefined> {
    const { stage, drill } = cell;
    narrator.cell(cell);
    const target = await targets.open(drill.kind, worker);
    const startedAt = performance.now();
    const tell = async () => {};
    const context = { target, stage, settings, signal, onProgress: narrator.progress, tell };
    const outcome = await drill.run(context).catch(async (error) => {
      // A death shows as a call without an answer first, and as a death a moment later.
      await sleep(CAUSE_LIMIT_MS, undefined, { signal }).catch(() => {});
      return lostTrack(signal.aborted ? signal.reason : error);
    });
    if (signal.reason instanceof Interrupted) return undefined;

    const { events, ...judged } = outcome;
    const result: DrillResult = {
      drill: drill.name,
      taught: taughtVerdict(stage, drill.name),
      ...judged,
      durationMs: Math.round(performance.now() - startedAt),
    };
    folder.writeEvents(stage, drill.name, events);
    narrator.result(stage, result);
    return result;
  }
}

/** A row for each stage, in their order; in it the drills in the order of the staircase. */
function stagesOf(results: Map<Cell, DrillResult>): StageResult[] {
  const names = [...new Set([...results.keys()].map(({ stage }) => stage))];
  const order = Object.keys(columns);
  const rows = Object.keys(strategies);
  return names
    .map((stage) => ({
      stage,
      lockVersion: numberOf(stage),
      drills: [...results]
        .flatMap(([cell, result]) => (cell.stage === stage ? [result] : []))
        .sort((a, b) => order.indexOf(a.drill) - order.indexOf(b.drill)),
    }))
    .sort((a, b) => rows.indexOf(a.stage) - rows.indexOf(b.stage));
}

const isLoad = ({ drill }: Cell) => drill.kind === 'load';
const nameOf = ({ stage, drill }: Cell) => `${stage} ${drill.name}`;
const secondsOf = ({ drill }: Cell) => columns[drill.name]?.seconds ?? 0;

/** A drill that could not be carried through proves nothing. */
function lostTrack(error: unknown) {
  const reason = error instanceof Error ? error.message : String(error);
  const events: SaleEvent[] = [];
  return { verdict: 'unknown' as const, reasons: [reason], witnesses: [], witnessCount: 0, stockOverTime: [], events };
}
