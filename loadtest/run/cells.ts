// Runs cells, one after the other or some at a time.

import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { numberOf } from '../../locks/index.ts';
import type { DrillResult, StageResult } from '../evidence/results.ts';
import { type Cell, type CellRecord, runCell, type World } from '../harness/drill.ts';
import { checkNames } from '../staircase/conformance.ts';
import { columnNames, isExternal, rowOf } from '../staircase/lookup.ts';
import type { RunFolder } from './folder.ts';
import type { Narrator } from './narrator.ts';

/** The user stopped the run, or is gone, as the message says. */
export class Interrupted extends Error {}

export interface RunOptions {
  cells: Cell[];
  worldOf(cell: Cell): World;
  /** Nothing is run on real servers. */
  isVirtual: boolean;
  /** How many cells are run at the same time: on real servers those that go step by step, each on a stack of its own. 1: all in their order. */
  workers: number;
  /** All cells are told in their order: only neighbours run at the same time. */
  isStory?: boolean;
  /** Aborts when the run is to stop: with Interrupted, or with an error that says what has died. */
  signal: AbortSignal;
  narrator: Narrator;
  folder: Pick<RunFolder, 'writeEvents'>;
}

/**
 * Runs the cells. What an abort kept from running is left out, as `stage drill`. `log`: a hash of all that happened in the simulation,
 * the same each time.
 */
export async function runCells(
  options: RunOptions,
): Promise<{ stages: StageResult[]; leftOut: string[]; log?: string }> {
  const { cells, worldOf, isVirtual, workers, isStory = false, signal, narrator, folder } = options;
  const results = new Map<Cell, DrillResult>();
  const logs = new Map<Cell, string>();

  // On real servers the checks are over before the first drill: they take all of the CPUs.
  const checks = isVirtual ? [] : cells.filter(isCheck);
  await workAt([...checks], availableParallelism());
  const others = cells.filter((cell) => !checks.includes(cell));
  if (isVirtual || workers === 1) await workAt(others, workers);
  else if (isStory) for (const scene of scenesOf(others, workers)) await playAtOnce(scene);
  else {
    // A drill under load has the machine to itself. The others mostly wait.
    await work(others.filter(isLoad), 0);
    // One external lock after the other, and one row after the other of those with nodes of their own: each has its own stacks.
    const stackOf = ({ stage }: Cell) => (isExternal(stage) ? stage : (rowOf(stage)?.stack?.name ?? ''));
    const stacks = [...new Set(others.map(stackOf))];
    const turnOf = (cell: Cell) => stacks.indexOf(stackOf(cell));
    await workAt(
      others.filter((cell) => !isLoad(cell)).sort((a, b) => turnOf(a) - turnOf(b)),
      workers,
    );
  }
  const log = createHash('sha256').update(cells.map((cell) => logs.get(cell)).join('\n'));
  return {
    stages: stagesOf(cells, results),
    leftOut: cells.filter((cell) => !results.has(cell)).map(nameOf),
    ...(isVirtual && { log: log.digest('hex') }),
  };

  /** So many workers share the queue. */
  async function workAt(queue: Cell[], most: number) {
    const ended = await Promise.allSettled(Array.from({ length: most }, (_, place) => work(queue, place)));
    for (const end of ended) if (end.status === 'rejected') throw end.reason;
  }

  async function work(queue: Cell[], place: number) {
    // In the simulation two processes begin at either end: each of them reads half of the locks.
    const next = () => (isVirtual && place % 2 === 1 ? queue.pop() : queue.shift());
    for (let cell = next(); cell && !signal.aborted; cell = next()) {
      narrator.cell?.(cell);
      const result = await runOne(cell, place).catch((error) => {
        // The others end what they are at, and begin nothing more.
        queue.splice(0);
        throw error;
      });
      await tell(cell, result);
    }
  }

  /** Runs the cells of a scene at the same time, and tells of them one after the other. */
  async function playAtOnce(scene: Cell[]) {
    if (signal.aborted) return;
    const running = scene.map((cell, place) => runOne(cell, place));
    // One that rejects while another is awaited ends the run when its turn comes.
    void Promise.allSettled(running);
    for (const [i, cell] of scene.entries()) {
      narrator.cell?.(cell);
      await tell(cell, await running[i]);
    }
  }

  async function tell(cell: Cell, judged: Judged | undefined) {
    if (judged === undefined) return;
    const { says: _, ...result } = judged;
    results.set(cell, result);
    await narrator.result(cell.stage, result);
  }

  async function runOne(cell: Cell, place: number): Promise<Judged | undefined> {
    const audience = {
      onProgress: (...far: [number, number]) => narrator.progress?.(...far),
      ...narrator.follow?.(cell),
    };
    const { events, log, ...judged } = await runCell(cell, worldOf(cell), audience, place);
    if (signal.reason instanceof Interrupted) return undefined;
    folder.writeEvents(cell.stage, cell.drill.name, events);
    if (log !== undefined) logs.set(cell, log);
    return judged;
  }
}

type Judged = Omit<CellRecord, 'events' | 'log'>;

const order = [...checkNames, ...columnNames];
/** What is no column of a staircase comes last. */
const placeOf = ({ drill }: DrillResult) => (order.includes(drill) ? order.indexOf(drill) : order.length);

/** A row for each stage, in the order of the cells; in it the drills in the order of the staircase. */
function stagesOf(cells: Cell[], results: Map<Cell, DrillResult>): StageResult[] {
  const names = [...new Set(cells.filter((cell) => results.has(cell)).map(({ stage }) => stage))];
  return names.map((stage) => ({
    stage,
    lockVersion: numberOf(stage),
    drills: [...results]
      .flatMap(([cell, result]) => (cell.stage === stage ? [result] : []))
      .sort((a, b) => placeOf(a) - placeOf(b)),
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

const isCheck = ({ drill }: Cell) => drill.isCheck === true;
const isLoad = ({ drill }: Cell) => drill.kind === 'load';
const nameOf = ({ stage, drill }: Cell) => `${stage} ${drill.name}`;
