// One playing of a scenario: who sells, what was seen so far, and what must be seen in the end.

import type { SaleEnd } from '../evidence/answers.ts';
import type { StepHistory } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { sharedClock } from '../harness/clock.ts';
import type { RunningSale } from '../harness/single-sale.ts';
import type { TargetNode } from '../harness/target.ts';
import type { TestBed } from '../harness/test-bed.ts';
import type { InsideSale } from '../harness/watched-sales.ts';

/** A sale that a page calls by a letter. */
export interface Actor {
  name: string;
  node: TargetNode;
  sale: RunningSale;
  /** When it was sent, on the shared clock. */
  askedAt: number;
  /** The sale, if it was seen inside. */
  inside?: InsideSale | undefined;
  /** It stays inside until the page says that it goes on. */
  isHeld?: boolean;
  /** When it went on, and for how long Redis kept the lock then, for whomever: in milliseconds. */
  wentOn?: { at: number; leaseLeftMs: number };
}

/** A command that is held on its way to its server. */
interface HeldCommand {
  arrive(): Promise<void>;
  /** It is drawn as held until then. */
  over(): void;
}

export interface Course {
  testBed: TestBed;
  actors: Map<string, Actor>;
  /** What must be seen in the history: each throws NotStagedError when it was not, and then nothing may be concluded. */
  evidence: ((outcome: StepHistory) => void | Promise<void>)[];
  /** Sales whose write reached Redis although their node had given up on it. */
  wroteLate: InsideSale[];
  /** When the fault began, on the shared clock. */
  faultAt: number;
  /** How many units were sold, and how many sales entered, while the fault lasted; undefined where no sentence looks at it. */
  soldMeanwhile?: number;
  enteredMeanwhile?: number;
  /** For how long nobody else got in, in milliseconds, if nobody did. */
  keptOutMs?: number;
  /** A sale was refused because no replica had confirmed it. */
  isRefused?: boolean;
  held?: HeldCommand;
  /** What is broken, and how it is mended. */
  broken: Map<string, () => unknown>;
  /** The command that is held as a release, and whether the lock sends others beside it. */
  release?: { isMeant: Parameters<TestBed['holdOnItsWay']>[1]; isOneOfSeveral: boolean };
  replicas: Awaited<ReturnType<TestBed['startReplica']>>[];
  clock?: Awaited<ReturnType<TestBed['lendClock']>>;
  buyers?: { stop(): Promise<unknown> };
  /** Sales that came one after the other, before a fault and in it. */
  rounds: SaleEnd[][];
  /** Resolves when votes that are late have come, with how long they took, in milliseconds. */
  lateVotes?: () => Promise<number>;
  /** Those who have come to wait. */
  crowd: RunningSale[];
  /** When they hung up, on the shared clock. */
  hungUpAt?: number;
  /** What tries for the lock have left in memory, in bytes. */
  memory?: { tries: number; bytes: number };
}

export function beginCourse(testBed: TestBed): Course {
  return {
    testBed,
    actors: new Map(),
    evidence: [],
    wroteLate: [],
    faultAt: sharedClock(),
    broken: new Map(),
    replicas: [],
    rounds: [],
    crowd: [],
  };
}

export function nodeOf({ testBed: { first, second } }: Course, name: string): TargetNode {
  return name === first.name ? first : second;
}

export function actorOf({ actors }: Course, name: string): Actor {
  const found = actors.get(name);
  if (found === undefined) throw new Error(`No sale is called ${name}.`);
  return found;
}

/** The sale as it was seen inside. Throws NotStagedError for one that was kept out. */
export function insideOf(course: Course, name: string): InsideSale {
  const { inside } = actorOf(course, name);
  if (inside === undefined) throw new NotStagedError(`Sale ${name} was never inside.`);
  return inside;
}

/** How long "2.5 leases", "1/3 lease", "30 s" or "500 ms" is, in milliseconds. */
export function msOf(time: string, leaseMs: number): number {
  const [amount = '', unit = ''] = time.split(' ');
  const [over, under = '1'] = amount.split('/');
  const unitMs = { ms: 1, s: 1_000 }[unit] ?? leaseMs;
  return Math.round((Number(over) / Number(under)) * unitMs);
}

/** Mends what is broken under this name, if it is. */
export function mend({ broken }: Course, name: string): void {
  broken.get(name)?.();
  broken.delete(name);
}
