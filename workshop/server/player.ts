// Plays scenarios on real servers for an audience, with the code of `npm run drill`, and lets the audience break a stack by hand.

import { once } from 'node:events';
import { type Drill, runCell } from '../../loadtest/harness/drill.ts';
import { told } from '../../loadtest/narration/steps.ts';
import { titleOf } from '../../loadtest/report/story.ts';
import { backendOfRow, isSemaphoreRow, rowOf } from '../../loadtest/staircase/lookup.ts';
import { createTargets, type Targets } from '../../loadtest/worlds/real/targets.ts';
import { realWorld } from '../../loadtest/worlds/real/world.ts';
import { usualSettings } from '../../loadtest/worlds/simulated/play.ts';
import { hasLock } from '../../locks/index.ts';
import type { Play, PlayCommand, RunView } from '../page/protocol.ts';
import type { Place } from '../picture/beats.ts';
import { FREE_STOCK, type FreePlay, openFreePlay } from './free-play.ts';
import { type Recording, startRecording } from './recording.ts';
import { Refusal } from './refusal.ts';
import { scenarioUnder } from './scenarios.ts';
import { startedParts } from './started-parts.ts';

/** The load that the chapters' questions refer to. */
const largeLoad = { requests: 2_000, connections: 50, stock: 5_000, units: 500 };

export interface PlayerOptions {
  /** A running stack to use, instead of starting stacks. */
  running?: { url: string; labUrls: string[] } | undefined;
  /** The lease of step-by-step scenarios, in milliseconds. */
  leaseMs: number;
  /** Called when the view has changed. */
  onChange: () => void;
}

export type Player = ReturnType<typeof createPlayer>;

export function createPlayer({ running, leaseMs, onChange }: PlayerOptions) {
  let play: Play = { is: 'ready', trouble: null, starts: [] };
  let run: RunView | null = null;
  /** The recorder of the current run. */
  let recording: Recording | undefined;
  let stopping: AbortController | undefined;
  let free: FreePlay | undefined;
  let ending: Promise<unknown> = Promise.resolve();
  let opened: { servers: string; targets: Targets } | undefined;

  function show(change: Partial<Play>) {
    play = { ...play, ...change };
    onChange();
  }

  /** The stacks for a row that needs these servers. Others are closed first: a laptop can run only one kind at a time. */
  async function targetsFor(stage: string): Promise<Targets> {
    const backends = [...(rowOf(stage)?.backends ?? [])].sort();
    const servers = backends.join();
    if (opened?.servers === servers) return opened.targets;
    await opened?.targets.close();
    const targets = createTargets({ running, backends, isWatched: true, onDeath });
    opened = { servers, targets };
    return targets;
  }

  /** A part of the stack died unexpectedly: the next run gets a new stack. */
  function onDeath(sentence: string) {
    const dead = opened;
    opened = undefined;
    stopping?.abort(new Error(sentence));
    show({ trouble: sentence });
    ending = Promise.allSettled([ending, dead?.targets.close()]);
  }

  /** Starts a run. Throws Refusal if something else is running, or there is nothing to play. */
  function begin(stage: string, drill: string | null, isLarge = false) {
    if (play.is !== 'ready') throw new Refusal(409, 'BUSY', 'Another run is in progress: stop it first.');
    const found = drill === null ? undefined : scenarioUnder(stage, drill);
    const row = rowOf(stage);
    if (row === undefined) throw new Refusal(400, 'BAD_REQUEST', `There is no stage ${stage}.`);
    if (drill !== null && found === undefined)
      throw new Refusal(400, 'BAD_REQUEST', `There is no scenario ${drill} for ${stage}.`);
    recording = startRecording({ stage, drill: found, onChange });
    run = {
      number: (run?.number ?? 0) + 1,
      ...{ stage, drill, title: titleOf(stage), place: placeOf(stage), isLoad: found?.kind === 'load' },
      ...{ events: [], verdict: null },
    };
    stopping = new AbortController();
    show({ is: 'starting', trouble: null, starts: running ? [] : startedParts(row) });
    const { signal } = stopping;
    const work = found ? playDrill(found, { stage, isLarge }, recording, signal) : playFree(stage, recording, signal);
    ending = Promise.allSettled([ending, work.catch((error) => show({ trouble: sentenceOf(error) })).finally(end)]);
  }

  async function playDrill(
    drill: Drill,
    { stage, isLarge }: { stage: string; isLarge: boolean },
    { audience, events }: Recording,
    signal: AbortSignal,
  ) {
    const targets = await targetsFor(stage);
    await targets.open(drill.kind, 0, stage);
    signal.throwIfAborted();
    show({ is: 'playing' });
    const world = realWorld({ targets, settings: { ...usualSettings, ...(isLarge && largeLoad), leaseMs }, signal });
    const record = await runCell({ stage, drill }, world, audience);
    signal.throwIfAborted();
    const { verdict, expected, says = [] } = record;
    if (run) run = { ...run, events: events(record), verdict: { verdict, expected, says } };
  }

  async function playFree(stage: string, { audience }: Recording, signal: AbortSignal) {
    const targets = await targetsFor(stage);
    const target = audience.watch(await targets.open('steps', 0, stage));
    signal.throwIfAborted();
    const opening = { target, stage, leaseMs, onChange, observe: audience.observe, narrate: audience.narrate };
    const own = await openFreePlay(opening);
    free = own;
    await audience.narrate(told('free play began', { units: FREE_STOCK }));
    show({ is: 'free' });
    try {
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      free = undefined;
      await own.close();
    }
  }

  /** Its recording stays. */
  async function end() {
    if (run && recording && run.verdict === null) run = { ...run, events: recording.events() };
    await recording?.close();
    recording = undefined;
    stopping = undefined;
    if (play.is !== 'over') show({ is: 'ready' });
  }

  function mustBeFree(): FreePlay {
    if (free === undefined) throw new Refusal(409, 'NOT_FREE', 'Start free play first.');
    return free;
  }

  return {
    /** Carries out a command. Rejects with Refusal if it does not fit the current state. */
    async command(command: PlayCommand): Promise<void> {
      switch (command.do) {
        case 'play':
          return begin(command.stage, command.drill, command.isLarge);
        case 'free':
          return begin(command.stage, null);
        case 'act':
          return mustBeFree().act(command);
        case 'undo':
          return mustBeFree().undo();
        case 'stop': {
          if (stopping === undefined) throw new Refusal(409, 'NOTHING_PLAYED', 'Nothing is playing.');
          show({ is: 'stopping' });
          return stopping.abort(new Error('The run was stopped.'));
        }
      }
    },
    read: () => ({
      play,
      controls: free?.controls() ?? null,
      run: run && recording && run.verdict === null ? { ...run, events: recording.events() } : run,
    }),
    /** Resolves when nothing is playing. */
    ended: () => ending,
    async close() {
      stopping?.abort(new Error('The page is closed.'));
      show({ is: 'over' });
      await ending;
      await opened?.targets.close();
    },
  };
}

/** Where a stage's lock is drawn. */
export function placeOf(stage: string): Place {
  if (stage === '1-in-process') return 'node';
  if (!hasLock(stage) || backendOfRow(stage) !== 'redis') return 'none';
  return isSemaphoreRow(stage) ? 'permits' : 'redis';
}

const sentenceOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
