// Plays drills for an audience, from the code of `npm run drill`: as they happen or step by step, alone or side by side.

import { once } from 'node:events';
import type { Drill } from '../../loadtest/harness/drill.ts';
import { realWorld } from '../../loadtest/harness/real-world.ts';
import { type Audience, runCell, type World } from '../../loadtest/harness/run-cell.ts';
import { createTargets, type Targets } from '../../loadtest/harness/targets.ts';
import { drills as allDrills } from '../../loadtest/scenarios/index.ts';
import { rowOf } from '../../loadtest/staircase/lookup.ts';
import type { LiveState, Order, Play } from '../contract.ts';
import { type Board, openBoard } from './board.ts';
import { drillsUnder } from './choices.ts';
import { type FreePlay, openFreePlay } from './free-play.ts';
import { Refusal } from './refusal.ts';

/** The stage that the stack has before anything was played. */
const FIRST_STAGE = '1-in-process';
/** A rush that an audience can follow. */
const load = { requests: 2_000, connections: 50, stock: 5_000, units: 500 };

export interface PlayerOptions {
  /** A running stack to aim at, instead of stacks of our own. */
  running?: { url: string; labUrls: string[] } | undefined;
  /** The lease of the drills that go step by step, in milliseconds. */
  leaseMs: number;
  /** Called when something is to be seen anew. */
  onChange: () => void;
  /** Called when a drill that is played step by step has come to a step, with what it says, before it waits for the presenter. */
  onStep?: (step: { stage: string; drill: string; text: string }) => void;
}

/** What is played now. */
interface Run {
  stopping: AbortController;
  isStepwise: boolean;
  /** Those that wait for the presenter: calling one goes on. */
  waiting: Set<() => void>;
}

type PlayOrder = Extract<Order, { do: 'play' }>;

export type Player = ReturnType<typeof createPlayer>;

export function createPlayer({ running, leaseMs, onChange, onStep = () => {} }: PlayerOptions) {
  let play: Play = { is: 'starting', trouble: null };
  let boards: Board[] = [];
  let run: Run | undefined;
  let ending: Promise<unknown> = Promise.resolve();
  let free: FreePlay | undefined;
  let opened: { servers: string; targets: Targets } | undefined;

  function show(change: Partial<Play>) {
    play = { ...play, ...change };
    onChange();
  }

  /** The stacks for rows that need these servers. Others are closed first: a laptop carries one kind at a time. */
  async function targetsFor(rows: string[]): Promise<Targets> {
    const backends = [...new Set(rows.flatMap((row) => rowOf(row)?.backends ?? []))].sort();
    const servers = backends.join();
    if (opened?.servers === servers) return opened.targets;
    closeBoards();
    await opened?.targets.close();
    const targets = createTargets({ running, backends, onDeath });
    opened = { servers, targets };
    return targets;
  }

  /** What is under way is not over before this is, too. */
  function follow(work: Promise<unknown> | undefined) {
    ending = Promise.allSettled([ending, work]).then(() => {});
  }

  /** A part of the stack has died that no drill killed: the next drill gets a new stack. */
  function onDeath(sentence: string) {
    const dead = opened;
    opened = undefined;
    run?.stopping.abort(new Error(sentence));
    show({ trouble: sentence });
    follow(dead?.targets.close());
  }

  function closeBoards() {
    for (const board of boards) board.close();
    boards = [];
  }

  async function openOn(targets: Targets, kind: Drill['kind'], stage: string, worker: number, drill: string | null) {
    return openBoard({ target: await targets.open(kind, worker, stage), stage, drill, onChange });
  }

  /** Plays one drill under one row, to its verdict. */
  async function playOn(drill: Drill, stage: string, board: Board, place: number, world: World, current: Run) {
    const { signal } = current.stopping;
    const audience: Audience = {
      watch: () => board.target,
      async narrate(text, atMs, isStep) {
        const waits = isStep && current.isStepwise;
        board.tell({ atMs, text, isStep, ...(waits && { waitedUntilMs: null }) });
        if (!waits) return;
        const waitsSince = performance.now();
        onStep({ stage, drill: drill.name, text });
        await untilNext(current);
        board.goesOn(atMs + performance.now() - waitsSince);
      },
      observe: board.observe,
    };
    const record = await runCell({ stage, drill }, world, audience, place);
    if (signal.aborted) board.stopped();
    signal.throwIfAborted();
    board.ended(record);
  }

  /** Waits for the presenter. Rejects when the drill is stopped. */
  async function untilNext(current: Run) {
    const { signal } = current.stopping;
    signal.throwIfAborted();
    await new Promise<void>((resolve) => {
      current.waiting.add(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
      show({ is: 'waiting' });
    });
    signal.throwIfAborted();
  }

  function goOn(current: Run) {
    const waiting = [...current.waiting];
    current.waiting.clear();
    for (const resolve of waiting) resolve();
    show({ is: 'playing' });
  }

  async function playAll(drill: Drill, rows: string[], current: Run) {
    try {
      const targets = await targetsFor(rows);
      closeBoards();
      current.stopping.signal.throwIfAborted();
      boards = await Promise.all(rows.map((row, place) => openOn(targets, drill.kind, row, place, drill.name)));
      show({ is: 'playing' });
      const { signal } = current.stopping;
      const world = realWorld({ targets, settings: { ...load, leaseMs }, signal });
      const plays = boards.map((board, place) => playOn(drill, rows[place] as string, board, place, world, current));
      const ended = await Promise.allSettled(plays);
      for (const end of ended) if (end.status === 'rejected') throw end.reason;
    } catch (error) {
      show({ trouble: sentenceOf(error) });
    } finally {
      run = undefined;
      if (play.is !== 'over') show({ is: 'ready' });
    }
  }

  function mustBeReady() {
    if (play.is !== 'ready') throw new Refusal(409, 'BUSY', 'Something else is under way: stop it first.');
  }

  async function openFree(stage: string, current: Run) {
    try {
      const targets = await targetsFor([stage]);
      closeBoards();
      const board = await openOn(targets, 'steps', stage, 0, null);
      boards = [board];
      current.stopping.signal.throwIfAborted();
      free = await openFreePlay({
        target: board.target,
        parts: board.parts,
        stage,
        leaseMs,
        observe: board.observe,
        onUnanswered: board.unanswered,
        onChange,
        narrate: (text, atMs) => board.tell({ atMs, text, isStep: false }),
      });
      show({ is: 'free' });
      const { signal } = current.stopping;
      if (!signal.aborted) await once(signal, 'abort');
    } catch (error) {
      show({ trouble: sentenceOf(error) });
    } finally {
      // Where a part has died, that is the trouble, and not what follows from it.
      await free?.close().catch((error) => show({ trouble: play.trouble ?? sentenceOf(error) }));
      free = undefined;
      run = undefined;
      if (play.is !== 'over') show({ is: 'ready' });
    }
  }

  function startFree(stage: string) {
    mustBeReady();
    if (rowOf(stage) === undefined) throw new Refusal(400, 'BAD_REQUEST', `There is no stage ${stage}.`);
    run = { stopping: new AbortController(), isStepwise: false, waiting: new Set() };
    show({ is: 'starting', trouble: null });
    follow(openFree(stage, run));
  }

  function mustBeFree(): FreePlay {
    if (free === undefined) throw new Refusal(409, 'NOT_FREE', 'Begin free play first.');
    return free;
  }

  function start({ stage, drill: name, isStepwise, against }: PlayOrder) {
    mustBeReady();
    const rows = against === undefined ? [stage] : [against, stage];
    const drill = allDrills.find((one) => one.name === name);
    for (const row of rows) {
      if (rowOf(row) === undefined) throw new Refusal(400, 'BAD_REQUEST', `There is no stage ${row}.`);
      if (drill === undefined || !drillsUnder(row).includes(drill)) {
        throw new Refusal(400, 'BAD_REQUEST', `Under ${row} there is no drill ${name}.`);
      }
    }
    if (running !== undefined && rows.length > 1) {
      throw new Refusal(400, 'BAD_REQUEST', 'Side by side takes two stacks of our own, and this one runs already.');
    }
    run = { stopping: new AbortController(), isStepwise, waiting: new Set() };
    show({ is: 'starting', trouble: null });
    follow(playAll(drill as Drill, rows, run));
  }

  function mustBeUnderWay(): Run {
    if (run === undefined) throw new Refusal(409, 'NOTHING_PLAYED', 'No drill is being played.');
    return run;
  }

  return {
    /** Starts the first stack, so that there is something to see. Rejects when it does not start. */
    async open() {
      const targets = await targetsFor([FIRST_STAGE]);
      const board = await openOn(targets, 'steps', FIRST_STAGE, 0, null);
      boards = [board];
      if (running === undefined) await board.target.nodes[0]?.setStock(load.stock);
      show({ is: 'ready' });
    },
    /** Carries out an order. Rejects with Refusal when it does not fit what goes on. */
    async order(order: Order): Promise<void> {
      switch (order.do) {
        case 'play':
          return start(order);
        case 'next':
          return goOn(mustBeUnderWay());
        case 'run-on': {
          const current = mustBeUnderWay();
          current.isStepwise = false;
          return goOn(current);
        }
        case 'free':
          return startFree(order.stage);
        case 'act':
          return mustBeFree().act(order);
        case 'undo':
          return mustBeFree().undo();
        case 'stop': {
          const current = mustBeUnderWay();
          show({ is: 'stopping' });
          return current.stopping.abort(new Error('The drill was stopped.'));
        }
      }
    },
    read: (): LiveState => ({ play, controls: free?.controls() ?? null, views: boards.map((board) => board.view()) }),
    /** Resolves when nothing is played. */
    ended: () => ending,
    async close() {
      run?.stopping.abort(new Error('The page is closed.'));
      show({ is: 'over' });
      await ending;
      // The last picture stays to be seen.
      for (const board of boards) board.close();
      await opened?.targets.close();
    },
  };
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
