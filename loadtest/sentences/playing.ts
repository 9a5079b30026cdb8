// The state of one playing of a scenario: its sales, what was seen so far, and what must be seen at the end.

import type { BasketAnswer, LookAnswer, SaleAnswer, SaleEnd } from '../evidence/answers.ts';
import { isSame, type SaleName, type StepHistory } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { LeftKey } from '../harness/lease-watch.ts';
import type { RunningSale } from '../harness/sales.ts';
import type { TargetNode } from '../harness/target.ts';
import type { TestBed } from '../harness/test-bed.ts';
import { type Deed, deed } from '../narration/faults.ts';
import { type Playable, sentencesOf } from './sentence.ts';

/** A sale, a basket or a reader, called by its letter in the scenario. */
export interface Actor {
  node: TargetNode;
  sale: RunningSale<SaleAnswer | BasketAnswer | LookAnswer>;
  /** When it was sent, on the shared clock. */
  askedAt: number;
  /** What it recorded when it began to wait, if it had to. */
  asks?: SaleName;
  /** The sale, if it was seen inside. */
  inside?: SaleName | undefined;
  /** What it sends is held until the scenario resumes it. */
  held?: ReturnType<TestBed['faults']['holdNext']> | undefined;
  /** It stays inside until the scenario resumes it. */
  isHeld?: boolean;
  /** When it resumed, on the shared clock. */
  wentOnAt?: number;
}

/** An outage of Redis, on the shared clock. */
export interface Outage {
  /** Which signal took it away. */
  signal: 'SIGSTOP' | 'SIGKILL';
  from: number;
  until: number;
  /** When a sale was held inside after it. */
  held?: { from: number; until: number };
  /** From its return to the next sale, in milliseconds, without the time for which that had to wait for one that was held. Absent when there was none in time. */
  backMs?: number;
  /** What was in Redis then, besides the stock, when nobody has sold: because of one of them. */
  stayed?: LeftKey[];
  /** Why the outage proves nothing, if so: nobody has asked by the time that mattered. */
  missed?: string | undefined;
}

/** An outage of the lock's servers, on the shared clock: first a minority, then a majority for a time. */
export interface LockOutage {
  killed: number;
  isMajority: boolean;
  /** While no majority lived. */
  from: number;
  until: number;
  /** From when on sales are to be made. */
  backAt: number;
  /** From then to the next sale that began after it, in milliseconds. Absent until it was looked for; infinite when there was none in time. */
  soldMs?: number;
}

export interface Playing extends TestBed, Pick<Playable<StepHistory>, 'evidence' | 'ending'> {
  actors: Map<string, Actor>;
  /** Sales whose write reached Redis although their node had given up on it. */
  wroteLate: SaleName[];
  /** When a holder was killed, or was last inside, on the shared clock. */
  faultAt: number;
  /**
   * What was measured on the way, by the names that the results give it. `soldMeanwhile`: how many units were sold while the fault lasted.
   * `keptOutMs`: for how long nobody else got in, if nobody did. `overtakes`: how many have gone first that came later than the one that
   * waits; `waitedMs`: for how long it had waited, when all of them had.
   */
  figures: Record<string, number>;
  /** What is broken, and how it is mended. */
  broken: Map<string, () => unknown>;
  /** The command that is held as a release, and whether the lock sends others beside it. */
  release?: { isMeant: Parameters<TestBed['faults']['holdOnItsWay']>[1]; isOneOfSeveral: boolean };
  replicas: Awaited<ReturnType<TestBed['faults']['startReplica']>>[];
  /** The clock of a server that can be set. */
  lentClock?: Awaited<ReturnType<TestBed['faults']['lendClock']>>;
  outages: Outage[];
  lockOutages: LockOutage[];
  /** So much later the answers of a line that is slow come, in milliseconds. */
  slowMs: number;
  /** Sales that came one after the other, before a fault and in it. */
  rounds: SaleEnd[][];
  /** Resolves when votes that are late have come, with how long they took, in milliseconds. */
  lateVotes?: () => Promise<number>;
  /** Those who have come to wait. */
  crowd: RunningSale[];
  /** When they hung up, on the shared clock. */
  hungUpAt?: number;
}

/** The makers of sentences: steps, demands and settings. */
export const { step, needing, setting, demand } = sentencesOf<Playing, StepHistory>();

export function beginPlaying(testBed: TestBed, release?: Playing['release']): Playing {
  return {
    ...testBed,
    actors: new Map(),
    evidence: [],
    figures: {},
    wroteLate: [],
    faultAt: testBed.clock.now(),
    broken: new Map(),
    ...(release && { release }),
    replicas: [],
    outages: [],
    lockOutages: [],
    slowMs: 0,
    rounds: [],
    crowd: [],
  };
}

export function actorOf({ actors }: Playing, name: string): Actor {
  const found = actors.get(name);
  if (found === undefined) throw new Error(`There is no sale ${name}.`);
  return found;
}

/** The sale as it was seen inside. Throws NotStagedError when it was kept out. */
export function insideOf(playing: Playing, name: string): SaleName {
  const { inside } = actorOf(playing, name);
  if (inside === undefined) throw new NotStagedError(`Sale ${name} was never inside.`);
  return inside;
}

/** Holds the next such command of a node, and what its connection sends after it. */
export function holdNext(playing: Playing, node: TargetNode, isMeant: Parameters<TestBed['faults']['holdNext']>[1]) {
  const held = playing.faults.holdNext(node, isMeant);
  const mark = playing.mark(deed('held on its way'), { node });
  held.arrived.then(playing.record.ring, () => {});
  return {
    ...held,
    goOn() {
      mark.over();
      return held.goOn();
    },
  };
}

/** Demands that `isSo` returns true at the end. If it returns a sentence that says why not, nothing can be concluded. */
export function mustBeSo(
  { evidence }: Playing,
  isSo: (outcome: StepHistory) => true | string | Promise<true | string>,
): void {
  evidence.push(async (outcome) => {
    const answer = await isSo(outcome);
    if (answer !== true) throw new NotStagedError(answer);
  });
}

/** Demands that the sale did not leave before this moment on the shared clock. */
export function mustBeInside(
  playing: Playing,
  sale: SaleName,
  at = playing.clock.now(),
  otherwise = `Sale ${sale.saleId} on ${sale.node} was not inside any more.`,
): void {
  mustBeSo(playing, ({ events }) => {
    const left = events.find((event) => event.type === 'left' && isSame(event, sale));
    return left === undefined || left.at >= at || otherwise;
  });
}

/** Marks a fault from now on. `undo` ends it when `mend` is called with this name. */
export function breaks(
  { mark, broken }: Playing,
  name: string,
  what: Deed,
  hit: Parameters<TestBed['mark']>[1],
  undo: () => unknown = () => {},
): void {
  const { over } = mark(what, hit);
  broken.set(name, () => {
    const undone = undo();
    over();
    return undone;
  });
}

/** Ends the fault of this name, if there is one. Returns what `undo` returns. */
export function mend({ broken }: Playing, name: string): unknown {
  const undo = broken.get(name);
  broken.delete(name);
  return undo?.();
}
