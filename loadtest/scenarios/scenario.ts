// A scenario as a drill: its page is played on whatever target it is given, and judged by what was seen.

import { ANSWER_LIMIT_MS } from '../../locks/drivers/answer-limit.ts';
import { replicasOf } from '../../locks/index.ts';
import { countOf, formatDuration } from '../evidence/numbers.ts';
import { startTimer, stopTimer, type Timer } from '../harness/clock.ts';
import { type Drill, type DrillOutcome, type Narrate, notApplicable } from '../harness/drill.ts';
import { type Judgement, notStaged, play, playAgain } from '../harness/play.ts';
import { findRelease } from '../harness/release-commands.ts';
import { lackOf } from '../harness/target.ts';
import { openTestBed, type TestBed, type TestBedOptions } from '../harness/test-bed.ts';
import { backendOfRow, hasNothingToBreak } from '../staircase/lookup.ts';
import { beginCourse } from './course.ts';
import type { Page } from './page.ts';
import { playPage } from './play-page.ts';

const STOCK = 100;
/** A standstill that may be why masters did not vote in time, or a replica did not confirm, in milliseconds: they have 50 or more. */
const CONFIRM_STANDSTILL_MS = 25;
/** A standstill of a node and one of its line may add up: two as long as this, in milliseconds, and the node gives its server up. */
const SILENT_MS = ANSWER_LIMIT_MS / 2;
/** How long a drill may go on without a word, in milliseconds: none takes as long for its longest step. */
const SILENCE_LIMIT_MS = 180_000;

export interface ScenarioOptions extends Omit<TestBedOptions, 'timing' | 'stock'> {
  leaseMs: number;
  stock?: number;
  /** How often it is played at most on a machine that is too busy to tell anything; 4 times when it is not given. */
  tries?: number | undefined;
  /** How long it may go on without a word, in milliseconds; 3 min when it is not given. */
  silenceLimitMs?: number;
}

/** The scenario as one of the staircase's drills. */
export function asDrill(page: Page): Drill {
  return {
    name: page.name,
    kind: 'steps',
    run: ({ settings: { leaseMs }, ...context }) => runScenario(page, { ...context, leaseMs }),
  };
}

/**
 * Plays a scenario, and plays it again when the machine stood still for so long that the verdict may be wrong, or when the fault could
 * not be staged. What it could not stage is `unknown`, what the target can't carry `not-applicable`. However it
 * ends, the stack is as it was before. Rejects when it comes no further, and with the signal's reason when that aborts.
 */
export async function runScenario(page: Page, options: ScenarioOptions): Promise<DrillOutcome> {
  const { target, stage, leaseMs, narrate, signal, tries, silenceLimitMs = SILENCE_LIMIT_MS } = options;
  const lacking = lackOf(target, stage, page.needs);
  if (lacking !== undefined) return notApplicable(lacking);
  if (hasNothingToBreak(stage, page.name)) {
    return notApplicable(`Under ${stage} there is nothing that this drill could break.`);
  }
  if (page.needs.includes('masters') && backendOfRow(stage) !== 'masters') {
    return notApplicable(`Under ${stage} no masters vote.`);
  }
  if (page.needs.includes('clock server') && replicasOf(stage) > 0) {
    return notApplicable('The embedded Valkey, whose clock can be set, has no replica.');
  }
  const timing = { leaseMs, ...page.timing };
  const isConfirmed = backendOfRow(stage) === 'masters' || replicasOf(stage) > 0;
  return playAgain(
    async () => {
      const silence = watchSilence(narrate, silenceLimitMs);
      const testBed = await openTestBed({
        stock: page.stock ?? STOCK,
        ...options,
        timing,
        narrate: silence.narrate,
      });
      silence.begin();
      const stopped = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
      const outcome = await play(testBed, follow(page, testBed), stopped).finally(silence.end);
      return { outcome, standstillMs: testBed.standstillMs() };
    },
    {
      wrongMs: Math.min(timing.leaseMs / 4, SILENT_MS),
      hinderingMs: isConfirmed ? CONFIRM_STANDSTILL_MS : Math.min(timing.leaseMs / 8, SILENT_MS),
      tries,
      narrate,
    },
  );
}

/** A drill says what it does. What is silent for too long waits for something that never comes: the signal aborts. */
function watchSilence(narrate: Narrate, limitMs: number) {
  const silent = new AbortController();
  const reason = new Error(`The drill came no further: for ${formatDuration(limitMs)} it has said nothing.`);
  let timer: Timer;
  let isOver = false;
  const watch = () => {
    if (!isOver) timer = startTimer(() => silent.abort(reason), limitMs);
  };
  return {
    signal: silent.signal,
    /** The drill begins. What comes before it, to make the nodes ready, has limits of its own. */
    begin: watch,
    end() {
      isOver = true;
      stopTimer(timer);
    },
    /** While somebody reads the sentence, the drill waits for them. */
    narrate: async (...said: Parameters<Narrate>) => {
      stopTimer(timer);
      await narrate(...said);
      watch();
    },
  };
}

/** Plays the page, or plays it once for each command of a release. */
const follow = (page: Page, testBed: TestBed) =>
  page.steps.some((step) => step.playsEachRelease)
    ? playEachRelease(page, testBed)
    : playPage(page, beginCourse(testBed));

/** Plays the page once for each command by which the lock is given up, until one fails. */
async function playEachRelease(page: Page, testBed: TestBed): Promise<Judgement> {
  const { commands, more, otherKey } = await findRelease(testBed);
  if (otherKey !== undefined) {
    const reason = `It keeps something under "${otherKey}": use the key that you are given, and begin the names of further keys with it.`;
    return { verdict: 'fail', reason, figures: { otherKeys: 1 }, witnesses: [] };
  }
  const isOneOfSeveral = commands.length > 1;
  let judged = notStaged('Its release sends no command with the key of the lock.', { nothingToBreak: true });
  for (const [round, { name, createMeant }] of commands.entries()) {
    // What the round before has left behind ends.
    if (round > 0) await testBed.endLease();
    if (name !== undefined) await testBed.say(`This time its ${name} is held up.`);
    judged = await playPage(page, { ...beginCourse(testBed), release: { isMeant: createMeant(), isOneOfSeveral } });
    if (judged.verdict !== 'pass') return judged;
  }
  if (!isOneOfSeveral) return judged;
  const names = commands.map(({ name }) => name).join(', ');
  const left = more > 0 ? ` ${countOf(more, 'command')} after them were not held.` : '';
  return { ...judged, reason: `${judged.reason} Each command of the release was late once: ${names}.${left}` };
}
