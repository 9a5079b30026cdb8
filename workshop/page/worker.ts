// The simulated lab and the model checker in a worker: runs one task after the other for the page.

import './shims/globals.ts';
import type { PlayEvent } from '../../loadtest/evidence/playing.ts';
import { type CellRecord, type DrillSettings, lostTrack, runCell } from '../../loadtest/harness/drill.ts';
import { drills, scenario } from '../../loadtest/scenarios/index.ts';
import { readScenario } from '../../loadtest/scenarios/read.ts';
import { asDrill } from '../../loadtest/scenarios/scenario.ts';
import { addExternalRow, columnOf } from '../../loadtest/staircase/lookup.ts';
import { playDrill, REAL_ONLY } from '../../loadtest/worlds/simulated/play.ts';
import { playingIn } from '../../loadtest/worlds/simulated/playing.ts';
import { strategies } from '../../locks/index.ts';
import { type Cell, MOST_STATES_WHILE_ONE_WAITS, proveCell, UnreadableError } from '../../prove/cell.ts';
import { lockKey } from '../../services/inventory/servers/store.ts';
import type { Step } from '../../simulation/events.ts';
import type { Lab } from '../../simulation/lab.ts';
import { isVirtual, type LockSource, lockNamed } from '../../simulation/lock-service.ts';
import type { AnyEvent } from '../picture/trips.ts';
import type { LineError } from './bundle.ts';
import { freezeRealm } from './frozen.ts';
import { type Game, type GameEvent, type GameTask, type Orders, openGame, type Standing } from './game.ts';
import { writeFileSync } from './shims/fs.ts';

/** What the lab can do, in the order of the matrix: its first message. */
export interface Ready {
  drills: { name: string; asks: string; isLoad: boolean }[];
  stages: string[];
}

/** A lock: a stage, or the text of a user's lock. */
interface Lock {
  stage: string;
  own?: string;
}

/** A cell to play. */
export interface CellTask extends Lock {
  drill: string;
  /** The scenario file to play instead of the scenario of this name. */
  page?: string;
  /** The size of a load, if it is not the default. */
  settings?: Partial<DrillSettings>;
  /** True if it will be shown. */
  isShown?: boolean;
}
/** A lock in a fault model. */
export interface ScopeTask extends Lock, Omit<GameTask, 'file'> {}
interface WayTask extends ScopeTask {
  /** The moves so far, each as an index among the possible moves. */
  way: number[];
}

export interface Played {
  record: Pick<CellRecord, 'verdict' | 'says'> & Partial<CellRecord>;
  log: string[];
  /** The data of a picture. */
  events: PlayEvent[];
  /** The line of the lock that threw the error in the verdict. */
  line?: number | undefined;
}
interface Searched extends Pick<Cell, 'verdict' | 'why' | 'states' | 'schedules'> {
  /** The shortest interleaving that breaks the lock. */
  events: GameEvent[];
  /** The line of the lock that threw the error that breaks it. */
  line?: number | undefined;
}

/** The tasks. Each rejects with the reason if it can't be done. */
export interface Calls {
  play(task: CellTask): Promise<Played>;
  search(task: ScopeTask): Promise<Searched>;
  stand(task: WayTask): Promise<Standing>;
  orders(task: WayTask): Promise<Orders>;
}
export interface Task {
  id: number;
  call: keyof Calls;
  given: Lock;
}
/** The result of a task. */
export type Result = { id: number } & ({ value: unknown } | { problem: string; line?: number | undefined });

const SKU = '001';

/** The port to the page. */
declare const port: MessagePort;

const played = [...drills.filter(({ name }) => REAL_ONLY[name] === undefined), asDrill(scenario('patient-buyer'))];

/** A small load that is still large enough for every lock to show its verdict. */
const ownSettings = { requests: 16, connections: 4, units: 8, leaseMs: 400 };
/** The users' locks, by text. */
const ownLocks = new Map<string, LockSource>();

function lockOf({ stage, own }: Lock): LockSource {
  if (own === undefined) return lockNamed(stage);
  const file = `workshop/mine/${ownLocks.size + 1}/lock.ts`;
  const facts = { backend: 'redis', isExternal: true } as const;
  const lock = ownLocks.get(own) ?? { name: stage, file: `/lockstep/${file}`, facts, hasOurClient: true };
  if (!ownLocks.has(own)) writeFileSync(file, own);
  ownLocks.set(own, lock);
  addExternalRow(stage, { backend: 'redis' });
  return lock;
}

// A lock of one's own is given no way to the network, and none to the page, and prints nothing. It judges itself by nothing that it
// has changed.
for (const name of 'postMessage close fetch XMLHttpRequest WebSocket WebTransport EventSource importScripts Worker BroadcastChannel indexedDB caches'.split(
  ' ',
))
  for (let owner: object | null = globalThis; owner !== null; owner = Object.getPrototypeOf(owner))
    if (Object.hasOwn(owner, name)) Object.defineProperty(owner, name, { value: undefined });
globalThis.console = new Proxy({} as Console, { get: () => () => {} });
freezeRealm();

/** The line of the lock at which the first matching sale failed. */
function lineOfFailure(events: AnyEvent[], isIt: (step: Step) => boolean): number | undefined {
  const failed = events.find(
    (event): event is Extract<AnyEvent, Step> => event.kind === 'sale' && event.step === 'failed' && isIt(event),
  );
  const isItsLine = (event: AnyEvent): event is Extract<AnyEvent, { kind: 'line' }> =>
    event.kind === 'line' && event.node === failed?.node && event.sale === failed.sale && event.at <= failed.at;
  return events.findLast(isItsLine)?.line;
}

/** The last game. */
let last: { name: string; game: Promise<Game> } | undefined;

function gameOf({ way: _, ...task }: WayTask): Promise<Game> {
  const name = JSON.stringify(task);
  if (last?.name !== name) last = { name, game: openGame({ ...task, file: lockOf(task).file }) };
  return last.game;
}

const calls: Calls = {
  async play({ stage, drill: name, page, settings = {}, isShown, own }) {
    const drill = page === undefined ? played.find((each) => each.name === name) : asDrill(readScenario(page));
    if (drill === undefined) throw new Error(`There is no drill ${name}.`);
    let lab: Lab | undefined;
    let log: string[] = [];
    const world = {
      isVirtual: true,
      async play() {
        const disturb = (opened: Lab) => {
          lab = opened;
          if (isShown) lab.watchRedis(lockKey(SKU, stage));
        };
        const lock =
          own === undefined ? { settings } : { lock: lockOf({ stage, own }), givesUp: true, settings: ownSettings };
        try {
          const played = await playDrill(drill, stage, { disturb, ...lock });
          log = played.log;
          return { outcome: played.outcome };
        } catch (error) {
          // As in Node, what keeps a drill from its end is no verdict; a lock that no lab opens with can't be played.
          if (lab === undefined) throw error;
          return { outcome: lostTrack(error) };
        }
      },
    };
    const record = await runCell({ stage, drill }, world);
    const failed = record.says.find(({ form }) => form === 'lock failed' || form === 'lock failed at times');
    const { error } = { error: undefined, ...failed?.values };
    const line = error === undefined ? undefined : lineOfFailure(lab?.events ?? [], ({ detail }) => detail === error);
    return { record, log, events: isShown && lab ? playingIn(lab) : [], line };
  },
  async search(task) {
    const { file } = lockOf(task);
    const { stage, scope, sales = 1, isAtOnce } = task;
    const size = { scope, sales, ...(isAtOnce && { isAtOnce }) };
    const limits = { masters: 0, budget: {}, mostStates: MOST_STATES_WHILE_ONE_WAITS };
    const cell = await proveCell({ stage, file, processes: task.processes, ...size, ...limits }).catch((error) => {
      throw error instanceof UnreadableError ? new Error(error.clause) : error;
    });
    const { verdict, why, states, schedules, processes, counterexample } = cell;
    const found = counterexample && (await (await openGame({ file, processes, ...size })).follow(counterexample));
    const { events } = found ?? { events: [] };
    const process = why.form === 'sale failed' ? why.values.process : undefined;
    const line = process === undefined ? undefined : lineOfFailure(events, ({ sale }) => sale === process);
    return { verdict, why, states, schedules, events, line };
  },
  stand: async (task) => (await gameOf(task)).stand(task.way),
  orders: async (task) => (await gameOf(task)).orders(task.way),
};

port.onmessage = async ({ data: { id, call, given } }: MessageEvent<Task>) => {
  const result: Result = await (calls[call] as (given: Lock) => Promise<unknown>)(given).then(
    (value) => ({ id, value }),
    (error: Error) => ({ id, problem: error.message, line: (error as Partial<LineError>).line }),
  );
  port.postMessage(result);
};

port.postMessage({
  drills: played.flatMap(({ name, kind }) => {
    const column = columnOf(name);
    return column ? [{ name, asks: column.asks, isLoad: kind === 'load' }] : [];
  }),
  stages: Object.keys(strategies).filter(isVirtual),
} satisfies Ready);
