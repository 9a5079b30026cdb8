// Drills and cells: what a drill is, its input and its outcome. A cell is a drill under a lock, on real servers or in the simulation.

import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import type { Tally } from '../evidence/answers.ts';
import type { DrillResult } from '../evidence/results.ts';
import type { Fault, LeaseSample } from '../evidence/timeline.ts';
import { described, type Sight, seen } from '../narration/evidence.ts';
import type { Deed } from '../narration/faults.ts';
import { because, explained, explainedInOne, type Reason, reasonOf } from '../narration/reasons.ts';
import { narrated, type StepSentence } from '../narration/steps.ts';
import { isExternal, verdictExpected } from '../staircase/lookup.ts';
import type { Target } from './target.ts';

export interface DrillSettings {
  /** Sales of a rush. */
  requests: number;
  /** How many buyers send requests at the same time. */
  connections: number;
  /** The stock of a rush, enough for all. */
  stock: number;
  /** The stock of a sell-out; twice as many buyers come. */
  units: number;
  /** The lease of the drills that go step by step, in milliseconds. */
  leaseMs: number;
}

/**
 * What a drill emits while it runs, with the milliseconds since it began. `isStep`: it goes on when this resolves, and does
 * not mind how long that takes. `line`: the line of its page that has been taken.
 */
export type Narrate = (sentence: StepSentence, atMs: number, isStep: boolean, line?: string) => Promise<void>;

/** What a running step-by-step drill shows to whoever watches it. */
export interface Observed {
  /** When the drill began, on the shared clock. */
  startedAt: number;
  /** When it was over and its way back began; undefined until then. What happens afterwards is no part of it. */
  endedAt(): number | undefined;
  /** What the drill did to break things: the list grows, and the end of each is entered when it is over. */
  faults: readonly Fault[];
  /** What Redis held under the lock's key so far, the oldest first. None where the lock is elsewhere. */
  samples(): readonly LeaseSample[];
  /** The units in stock at the beginning. */
  stock: number;
  /** The units in stock when all sales had ended; undefined until then. */
  finalStock(): number | undefined;
}

/** Called when a drill is ready for its first step; again for each time that it is run again. */
export type Observe = (seen: Observed) => void;

export interface DrillContext {
  target: Target;
  /** The full name of the stage, such as `4-ttl`. */
  stage: string;
  settings: DrillSettings;
  /** Aborts when the run is to stop; its reason is a sentence. */
  signal: AbortSignal;
  onProgress: (done: number, total: number) => void;
  narrate: Narrate;
  /** Called when a drill step by step under a lock begins, for somebody who watches. */
  observe?: Observe | undefined;
  /** How often a drill step by step is run at most on a machine that is too busy to tell anything. */
  tries?: number;
  /** A load ends when nobody has been given the lock for longer than a sale waits for it. */
  givesUp?: boolean;
}

/** What was narrated, and when: milliseconds since the drill began. */
export interface Emitted {
  ms: number;
  sentence: StepSentence;
}

export interface DrillOutcome extends Omit<DrillResult, 'drill' | 'expected' | 'durationMs' | 'told' | 'facts'> {
  /** Of a drill of the orders: what it emitted. */
  told?: Emitted[];
  /** The reasons as facts, and the evidence. */
  says: Reason[];
  seen?: Sight[];
  /** What it did, in the order of the faults in its timeline. */
  deeds?: Deed[];
  /** The raw events of all nodes, for the report's folder. */
  events: SaleEvent[];
  /** Of a load: the first answer of each kind. */
  samples?: Tally['samples'];
  /** With `unknown`: the lock never takes the step that the drill breaks. Nothing may be concluded from it under a lock of ours. */
  nothingToBreak?: boolean;
  /** With `unknown`: the machine was stalled for so long that the lock explains nothing. */
  isSpoilt?: boolean;
}

/** One way to break a lock, or to see that it holds. */
export interface Drill {
  /** A column of the staircase. */
  name: string;
  /** `load`: many sales at once, on a stack as it is in production. `steps`: one fault, on a stack that can be broken. */
  kind: 'load' | 'steps';
  /** What is narrated while it runs, line by line; nothing for a load. */
  lines?: string[];
  /** It computes all the time, so it always runs in the simulation, wherever the drills run. */
  isCheck?: true;
  run(context: DrillContext): Promise<DrillOutcome>;
}

/** Everything that a drill needs to run under a stage. */
export interface Cell {
  stage: string;
  drill: Drill;
}

/** How many pieces of evidence an outcome names. */
const MOST_EVIDENCE = 10;

/** The first evidence, as facts and in English, and how much there is. */
export function firstOf(evidence: Sight[]) {
  const first = evidence.slice(0, MOST_EVIDENCE);
  return { seen: first, evidence: first.map(described), evidenceCount: evidence.length };
}

const nothing = { evidence: [], evidenceCount: 0, events: [] };
const unplayed = (verdict: DrillOutcome['verdict'], reason: Reason) => ({
  ...nothing,
  ...{ verdict, ...explained([reason]) },
});

/** The outcome of a drill that these servers can't run, or that has nothing to break. */
export const notApplicable = (reason: Reason): DrillOutcome => unplayed('not-applicable', reason);

/** The outcome of a drill that did not finish: it proves nothing. */
export const lostTrack = (error: unknown): DrillOutcome => unplayed('unknown', reasonOf(error));

/** An observer of a running cell. */
export interface Audience extends Partial<Pick<DrillContext, 'onProgress' | 'narrate' | 'observe'>> {
  /** Gives the target that the drill breaks instead of this one, so that what is done to it is seen. */
  watch?(target: Target): Target | Promise<Target>;
}

/** What a world saw of a drill. `log`: the SHA-256 of everything that happened in simulated time, the same each time. */
export interface Played {
  outcome: DrillOutcome;
  log?: string;
}

/** Where cells run. */
export interface World {
  isVirtual: boolean;
  /** What it plays is judged by its wire alone. */
  isForeign?: true;
  /**
   * Plays the drill. What keeps it from its end, as an abort does, is an unknown outcome; it rejects when the world itself can't be had.
   * `place`: those that are played at the same time have different ones.
   */
  play(cell: Cell, audience: Audience, place: number): Promise<Played>;
}

/** The result of a cell: what `results.json` keeps, the reasons as facts, its events and, in simulated time, the log. */
export interface CellRecord extends DrillResult {
  says: Reason[];
  events: SaleEvent[];
  log?: string;
}

/** Runs a cell to its verdict. Rejects when the world can't be had. */
export async function runCell(cell: Cell, world: World, audience: Audience = {}, place = 0): Promise<CellRecord> {
  const startedAt = performance.now();
  const { outcome, log } = await world.play(cell, audience, place);
  const found = isExternal(cell.stage) && !world.isForeign ? judgeExternal(outcome) : outcome;
  const { nothingToBreak: _, isSpoilt: __, samples: ___, told = [], says, seen = [], deeds = [], ...judged } = found;
  return {
    drill: cell.drill.name,
    expected: verdictExpected(cell.stage, cell.drill.name),
    ...judged,
    says,
    ...(told.length > 0 && { told: told.map(({ ms, sentence }) => ({ ms, sentence: narrated(sentence) })) }),
    facts: { says, seen, deeds, told: told.map(({ sentence }) => sentence) },
    durationMs: Math.round(performance.now() - startedAt),
    ...(log !== undefined && { log }),
  };
}

/**
 * What no fault of a drill explains is often explained by what the nodes recorded of an external lock: it threw, or nobody was ever
 * given it. And it may have nothing that a drill could break. A machine that stood still leaves nothing to be explained.
 */
export function judgeExternal(outcome: DrillOutcome): DrillOutcome {
  const { verdict, says, events, nothingToBreak, isSpoilt } = outcome;
  if (verdict !== 'unknown' || isSpoilt) return outcome;
  // Its figures are those of a drill that was not staged.
  const { figures: _, ...rest } = outcome;
  const fail = (reason: Reason): DrillOutcome => ({ ...rest, verdict: 'fail', ...explained([reason]) });
  const of = (...types: string[]) => events.filter(({ type }) => types.includes(type)).length;
  const faults = events.filter(({ code }) => code === 'LOCK_FAILED');
  const refused = events.filter(({ code }) => code === 'LOCK_WAIT_TIMEOUT').length;
  const [asked, entered, sold] = [of('waiting'), of('entered'), of('wrote')];
  const error = mostFrequent(faults.map(({ detail = '' }) => detail));

  if (faults.length > 0 && sold === 0) return fail(because('lock failed', { error }));
  if (faults.length > 0) return fail(because('lock failed at times', { failed: faults.length, asked, error }));
  if (asked > 0 && entered === 0) return fail(because('lock given to nobody', {}));
  if (refused > sold) {
    return { ...fail(because('most were refused', { refused, asked })), ...firstOf(refusedSales(events)) };
  }
  if (!nothingToBreak) return outcome;
  return { ...outcome, verdict: 'not-applicable', ...explainedInOne([because('nothing to break', {}), ...says]) };
}

/** The most frequent text; the first of several. */
function mostFrequent(texts: string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most?.[0] ?? '';
}

/** Each sale that waited for the lock in vain. */
function refusedSales(events: SaleEvent[]): Sight[] {
  return events
    .filter(({ code }) => code === 'LOCK_WAIT_TIMEOUT')
    .map(({ at, node, saleId }) => {
      const asked = events.find((event) => event.type === 'waiting' && event.node === node && event.saleId === saleId);
      return seen('waited and was refused', { sale: { node, saleId }, ms: at - (asked?.at ?? at) });
    });
}
