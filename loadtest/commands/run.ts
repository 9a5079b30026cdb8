// Runs cells, one after the other or some at a time, each on its stack.

import { createHash } from 'node:crypto';
import { numberOf } from '../../locks/index.ts';
import type { DrillResult, StageResult } from '../evidence/results.ts';
import { nodesDidNotStart, runExternalCell } from '../grade/external-cell.ts';
import {
  type Cell,
  causeShown,
  type Drill,
  type DrillContext,
  type DrillOutcome,
  type DrillSettings,
  lostTrack,
} from '../harness/drill.ts';
import type { Target } from '../harness/target.ts';
import type { Targets } from '../harness/targets.ts';
import { columnNames, columnOf, isExternal, rowOf, taughtVerdict } from '../staircase/lookup.ts';
import { type PlayAllOptions, playAll } from '../virtual/play-all.ts';
import type { Narrator } from './narrator.ts';
import type { RunFolder } from './run-folder.ts';

/** The user stopped the run. */
export class Interrupted extends Error {}

export interface RunOptions {
  cells: Cell[];
  /** How many drills that go step by step run at the same time, each on a stack of its own. 1: all cells in their order. */
  workers: number;
  /** All cells are told in their order: only neighbours run at the same time. */
  isStory?: boolean;
  targets: Targets;
  settings: DrillSettings;
  /** Aborts when the run is to stop: with Interrupted, or with an error that says what has died. */
  signal: AbortSignal;
  narrator: Narrator;
  folder: RunFolder;
}

/** Runs the cells. What an abort kept from running is left out, as `stage drill`. */
export async function runCells(options: RunOptions): Promise<{ stages: StageResult[]; leftOut: string[] }> {
  const { cells, workers, isStory = false, targets, settings, signal, narrator, folder } = options;
  const results = new Map<Cell, DrillResult>();

  if (workers === 1) await work([...cells], 0);
  else if (isStory) for (const scene of scenesOf(cells, workers)) await play(scene);
  else {
    // A drill under load has the machine to itself. The others mostly wait: the longest first, so that all end together.
    await work(cells.filter(isLoad), 0);
    // One external lock after the other, and one row after the other of those with nodes of their own: each has its own stacks.
    const stackOf = ({ stage }: Cell) => (isExternal(stage) ? stage : (rowOf(stage)?.stack?.name ?? ''));
    const stacks = [...new Set(cells.map(stackOf))];
    const turnOf = (cell: Cell) => stacks.indexOf(stackOf(cell));
    const steps = cells
      .filter((cell) => !isLoad(cell))
      .sort((a, b) => turnOf(a) - turnOf(b) || secondsOf(b) - secondsOf(a));
    const ended = await Promise.allSettled(Array.from({ length: workers }, (_, worker) => work(steps, worker)));
    for (const end of ended) if (end.status === 'rejected') throw end.reason;
  }
  return { stages: stagesOf(cells, results), leftOut: cells.filter((cell) => !results.has(cell)).map(nameOf) };

  async function work(queue: Cell[], worker: number) {
    for (let cell = queue.shift(); cell && !signal.aborted; cell = queue.shift()) {
      narrator.cell(cell);
      const result = await runOne(cell, worker).catch((error) => {
        // The others end what they are at, and begin nothing more.
        queue.splice(0);
        throw error;
      });
      tell(cell, result);
    }
  }

  /** Runs the cells of a scene at the same time, and tells of them one after the other. */
  async function play(scene: Cell[]) {
    if (signal.aborted) return;
    const running = scene.map((cell, worker) => runOne(cell, worker));
    // One that rejects while another is awaited ends the run when its turn comes.
    void Promise.allSettled(running);
    for (const [i, cell] of scene.entries()) {
      narrator.cell(cell);
      tell(cell, await running[i]);
    }
  }

  function tell(cell: Cell, result: DrillResult | undefined) {
    if (result === undefined) return;
    results.set(cell, result);
    narrator.result(cell.stage, result);
  }

  async function runOne(cell: Cell, worker: number): Promise<DrillResult | undefined> {
    const { stage, drill } = cell;
    const target = await targets.open(drill.kind, worker, stage).catch((error: Error) => {
      if (isExternal(stage)) return error;
      throw error;
    });
    const startedAt = performance.now();
    const outcome = target instanceof Error ? nodesDidNotStart(target) : await runOn(target);
    if (signal.reason instanceof Interrupted) return undefined;

    const { events, nothingToBreak: _, ...judged } = outcome;
    const result: DrillResult = {
      drill: drill.name,
      taught: taughtVerdict(stage, drill.name),
      ...judged,
      durationMs: Math.round(performance.now() - startedAt),
    };
    folder.writeEvents(stage, drill.name, events);
    return result;

    async function runOn(target: Target): Promise<DrillOutcome> {
      const context = { target, stage, settings, signal, onProgress: narrator.progress, narrate: async () => {} };
      if (!isExternal(stage)) return runOurs(drill, context);
      const { outcome, isStackSound } = await runExternalCell(drill, context);
      if (!isStackSound) await targets.discard(drill.kind, worker);
      return outcome;
    }
  }
}

function runOurs(drill: Drill, context: DrillContext): Promise<DrillOutcome> {
  const { signal } = context;
  return drill.run(context).catch(async (error) => {
    await causeShown(signal);
    return lostTrack(signal.aborted ? signal.reason : error);
  });
}

/** Plays the cells in the virtual world. `log` is a hash of all that happened, the same each time. */
export async function playVirtualCells({
  cells,
  settings,
  signal,
  locks,
  narrator,
  folder,
}: Pick<RunOptions, 'cells' | 'settings' | 'signal' | 'narrator' | 'folder'> & Pick<PlayAllOptions, 'locks'>) {
  const results = new Map<Cell, DrillResult>();
  const logs = new Map<Cell, string>();
  await playAll(cells, {
    settings,
    locks,
    signal,
    onResult(cell, { outcome, log = '' }, ms) {
      const { stage, drill } = cell;
      const { events, nothingToBreak: _, ...judged } = outcome;
      const taught = taughtVerdict(stage, drill.name);
      const result: DrillResult = { drill: drill.name, taught, ...judged, durationMs: Math.round(ms) };
      folder.writeEvents(stage, drill.name, events);
      results.set(cell, result);
      logs.set(cell, log);
      narrator.result(stage, result);
    },
  });
  const log = createHash('sha256')
    .update(cells.map((cell) => logs.get(cell)).join('\n'))
    .digest('hex');
  return { stages: stagesOf(cells, results), leftOut: cells.filter((cell) => !results.has(cell)).map(nameOf), log };
}

/** A row for each stage, in the order of the cells; in it the drills in the order of the staircase. */
function stagesOf(cells: Cell[], results: Map<Cell, DrillResult>): StageResult[] {
  const names = [...new Set(cells.filter((cell) => results.has(cell)).map(({ stage }) => stage))];
  return names.map((stage) => ({
    stage,
    lockVersion: numberOf(stage),
    drills: [...results]
      .flatMap(([cell, result]) => (cell.stage === stage ? [result] : []))
      .sort((a, b) => columnNames.indexOf(a.drill) - columnNames.indexOf(b.drill)),
  }));
}

/** A drill under load alone, which has the machine to itself, or some neighbours of one stage that mostly wait. */
function scenesOf(cells: Cell[], most: number): Cell[][] {
  const scenes: Cell[][] = [];
  for (const cell of cells) {
    const last = scenes.at(-1) ?? [];
    const [first] = last;
    const fits = first !== undefined && !isLoad(first) && !isLoad(cell) && first.stage === cell.stage;
    if (fits && last.length < most) last.push(cell);
    else scenes.push([cell]);
  }
  return scenes;
}

const isLoad = ({ drill }: Cell) => drill.kind === 'load';
const nameOf = ({ stage, drill }: Cell) => `${stage} ${drill.name}`;
const secondsOf = ({ drill }: Cell) => columnOf(drill.name)?.seconds ?? 0;
