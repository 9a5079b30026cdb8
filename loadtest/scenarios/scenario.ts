// Runs a scenario as a drill: plays it on a target, and judges what was seen.

import { ANSWER_LIMIT_MS } from '../../locks/drivers/answer-limit.ts';
import { mayLockUsers, replicasOf, takesLease } from '../../locks/index.ts';
import type { Command } from '../../stack/proxy/link.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { type Drill, type DrillContext, type DrillOutcome, notApplicable } from '../harness/drill.ts';
import { type Judgement, notStaged, play, playAgain } from '../harness/play.ts';
import { lackOf, type Need } from '../harness/target.ts';
import { openTestBed, type TestBed, type TestBedOptions } from '../harness/test-bed.ts';
import { because } from '../narration/reasons.ts';
import { told } from '../narration/steps.ts';
import { beginPlaying } from '../sentences/playing.ts';
import { backendOfRow, hasNothingToBreak, isExternal, isSemaphoreRow } from '../staircase/lookup.ts';
import { inTime, playScenario } from './play.ts';
import type { Scenario } from './read.ts';

const STOCK = 100;
/** The shortest standstill that may explain why masters did not vote in time, or a replica did not confirm, in milliseconds: they have 50 or more. */
const CONFIRM_STANDSTILL_MS = 25;
/** Standstills of a node and of its connection may add up. After two of this length, in milliseconds, the node gives up its server. */
const SILENT_MS = ANSWER_LIMIT_MS / 2;

export interface ScenarioOptions
  extends Omit<TestBedOptions, 'timing' | 'stock'>,
    Partial<Pick<TestBedOptions, 'stock'>>,
    Pick<DrillContext, 'tries'> {
  leaseMs: number;
}

/** The scenario as a drill of the result matrix. */
export function asDrill(scenario: Scenario): Drill {
  return {
    name: scenario.name,
    kind: 'steps',
    lines: scenario.steps.map(({ line }) => line),
    run: ({ settings: { leaseMs }, ...context }) => runScenario(scenario, { ...context, leaseMs }),
  };
}

/**
 * Plays a scenario, and plays it again when the machine was stalled for so long that the verdict may be wrong, or when the fault could
 * not be staged. What it could not stage is `unknown`, what the target can't carry `not-applicable`. However it
 * ends, the stack is as it was before. Rejects when it comes no further, and with the signal's reason when that aborts.
 */
export async function runScenario(scenario: Scenario, options: ScenarioOptions): Promise<DrillOutcome> {
  const { target, stage, leaseMs, narrate, signal, tries } = options;
  const needs = (need: Need) => scenario.needs.includes(need);
  const lacking = lackOf(target, stage, scenario.needs);
  const whyNot = [
    lacking,
    needs('permits') && !isSemaphoreRow(stage) && because('no semaphore', { stage }),
    needs('own lease') && !takesLease(stage) && because('takes no lease', { stage }),
    needs('user lock') && !isExternal(stage) && !mayLockUsers(stage) && because('locks no user', { stage }),
    hasNothingToBreak(stage, scenario.name) && because('nothing to break under', { stage }),
    needs('masters') && backendOfRow(stage) !== 'masters' && because('no masters vote', { stage }),
    needs('clock server') && replicasOf(stage) > 0 && because('clock server without a replica', {}),
  ].find(Boolean);
  if (whyNot) return notApplicable(whyNot);
  const timing = { leaseMs, ...scenario.timing, ...(target.leaseMs !== undefined && { leaseMs: target.leaseMs }) };
  const isConfirmed = backendOfRow(stage) === 'masters' || replicasOf(stage) > 0;
  return playAgain(
    async () => {
      const testBed = await openTestBed({ stock: scenario.stock ?? STOCK, ...options, timing });
      return play(testBed, follow(scenario, testBed), signal);
    },
    {
      wrongMs: Math.min(timing.leaseMs / 4, SILENT_MS),
      hinderingMs: isConfirmed ? CONFIRM_STANDSTILL_MS : Math.min(timing.leaseMs / 8, SILENT_MS),
      tries,
      narrate,
    },
  );
}

/** Plays the scenario, or plays it once for each command of a release. */
const follow = (scenario: Scenario, testBed: TestBed) =>
  scenario.steps.some((step) => step.playsEachRelease)
    ? playEachRelease(scenario, testBed)
    : playScenario(scenario, beginPlaying(testBed));

/** Plays the scenario once for each command that releases the lock, until one fails. */
async function playEachRelease(scenario: Scenario, testBed: TestBed): Promise<Judgement> {
  const { commands, more, otherKey } = await inTime(testBed, findRelease(testBed));
  if (otherKey !== undefined) {
    const says = [because('key of its own', { key: otherKey })];
    return { verdict: 'fail', says, figures: { otherKeys: 1 }, evidence: [] };
  }
  const isOneOfSeveral = commands.length > 1;
  let judged = notStaged(because('release without the key', {}), { nothingToBreak: true });
  for (const [round, { name, createMeant }] of commands.entries()) {
    // What the round before has left behind ends.
    if (round > 0) await inTime(testBed, testBed.faults.endLease());
    if (name !== undefined) await testBed.say(told('release round', { round: round + 1, command: name }));
    const playing = beginPlaying(testBed, { isMeant: createMeant(), isOneOfSeveral });
    judged = await playScenario(scenario, playing);
    if (judged.verdict !== 'pass') return judged;
  }
  if (!isOneOfSeveral) return judged;
  const names = commands.map(({ name = '' }) => name);
  const left = more > 0 ? [because('commands not held', { commands: more })] : [];
  return { ...judged, says: [...judged.says, because('each command was late', { commands: names }), ...left] };
}

/** How many commands of a release are held, each in turn. */
const MOST_COMMANDS = 6;
/** How long an uncontended sale may take, in milliseconds. */
const SALE_LIMIT_MS = 5_000;

/** Commands that write something to Redis that others see: the key of a lock, or what goes with it. */
const writes = new Set(['SET', 'SETNX', 'SETEX', 'PSETEX', 'GETSET', 'HSET', 'HSETNX', 'ZADD', 'LPUSH', 'RPUSH']);
const isWrite = ({ name, isSql }: Command) => !isSql && (writes.has(name) || /^(EVAL|FCALL)/.test(name));
/** Commands that subscribe: they change nothing that others see. */
const isSubscription = ({ name }: Command) => /SUBSCRIBE$/.test(name);

/** One command of a release, and how to recognise it among those that a node sends. */
export interface ReleaseCommand {
  /** Its name in Redis, such as `DEL`. Absent for a lock of ours, which has one. */
  name?: string;
  /** Makes what says true to it once: of a node that sells and gives the lock up, and has not written yet. */
  createMeant(): (command: Command) => boolean;
}

export interface Release {
  /** In the order in which they are sent. None for a lock that sends no command with its key. */
  commands: ReleaseCommand[];
  /** How many more there are than are held. */
  more: number;
  /** A key that the lock uses and that does not have the given one in its name. */
  otherKey?: string;
}

/**
 * The commands by which a holder on the first node gives its lock up. For those of an external lock it sells there, and looks.
 * Throws NotStagedError when that sale does not take place.
 */
export async function findRelease(testBed: TestBed): Promise<Release> {
  const { first, second, stage, wire } = testBed;
  if (!isExternal(stage)) return { commands: [{ createMeant: () => wire.isRelease }], more: 0 };
  const seen: Command[] = [];
  const unwatch = testBed.faults.watchCommands(first, (command) => seen.push(command));
  // Redis is sent the text of a script once: what the second sale sends every other will send.
  for (let sale = 0; sale < 2; sale += 1) {
    seen.splice(0);
    const { outcome } = await testBed.sales.sell(first).endWithin(SALE_LIMIT_MS);
    if (outcome !== 'sold') throw new NotStagedError(`An undisturbed sale on ${first.name} failed.`);
  }
  // What frees the lock has been sent when another has it, also what is sent after the answer.
  await testBed.sales.sell(second).endWithin(SALE_LIMIT_MS);
  unwatch();

  const isOurs = ({ args }: Command) => args.some(wire.isStockKey);
  const isOfLock = (command: Command) => wire.isOfLock(command, stage);
  const other = seen.find((command) => isWrite(command) && !isOfLock(command) && !isOurs(command));
  const released = seen
    .slice(seen.findIndex(wire.isStockWrite) + 1)
    .filter((command) => isOfLock(command) && !isOurs(command) && !isSubscription(command));
  const commands = released.map((command, index) => {
    const before = released.slice(0, index).filter((earlier) => kindOf(earlier) === kindOf(command)).length;
    return { name: command.name, createMeant: () => afterWrite(testBed, kindOf(command), before) };
  });
  return {
    commands: commands.slice(0, MOST_COMMANDS),
    more: Math.max(0, commands.length - MOST_COMMANDS),
    ...(other !== undefined && { otherKey: keyOf(other) }),
  };
}

/** Matches the command of the lock that is of this kind, after the stock write and after so many of its kind. */
function afterWrite(
  { wire, stage }: Pick<TestBed, 'wire' | 'stage'>,
  kind: string,
  before: number,
): (command: Command) => boolean {
  let hasWritten = false;
  let seen = 0;
  return (command) => {
    if (wire.isStockWrite(command)) hasWritten = true;
    else if (hasWritten && kindOf(command) === kind && wire.isOfLock(command, stage)) {
      seen += 1;
      return seen > before;
    }
    return false;
  };
}

/** The kind of a command: its name, and which script it runs. */
const kindOf = ({ name, args }: Command) => (/^(EVAL|FCALL)/.test(name) ? `${name} ${args[0]}` : name);

/** The first key of a command. */
const keyOf = ({ name, args }: Command) => (/^(EVAL|FCALL)/.test(name) ? args[2] : args[0]) ?? '';
