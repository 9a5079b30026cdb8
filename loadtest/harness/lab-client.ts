import {
  answersSchema,
  type GuardTiming,
  guardChangeSchema,
  heapSchema,
  historySchema,
  type JobSchedule,
  type JobState,
  jobScheduleSchema,
  jobStateSchema,
  type LabHistory,
  type LockTiming,
  lockChangeSchema,
  nodeStateSchema,
  type RedisState,
  redisSchema,
  remainingSchema,
  type SaleScript,
  type ShownState,
  saleScriptSchema,
  shownStateSchema,
  stockSchema,
  type TickResult,
  type TickScript,
  tickResultSchema,
  tickScriptSchema,
} from '../../services/inventory/lab/contract.ts';
import { type FollowOptions, followNode } from './event-stream.ts';

export type {
  LockTiming,
  NodeState,
  SaleEvent,
  SaleScript,
  ShownState,
  TickResult,
  TickScript,
} from '../../services/inventory/lab/contract.ts';

/** How long a lab listener may take to answer, in milliseconds. */
const ANSWER_LIMIT_MS = 10_000;

/** How long a tick may take that is held while an audience looks at it, in milliseconds. */
const TICK_LIMIT_MS = 3_600_000;

/** A node as the harness sees it: its public listener, and its lab listener. */
export interface LabClient {
  /** The public listener, for sales that go past nginx. */
  publicUrl: string;
  /** The lab listener. */
  labUrl: string;
  state(): Promise<ShownState>;
  /** True when it takes connections and leaves a question unanswered for so long: neither alive nor dead. */
  isSilentFor(limitMs: number): Promise<boolean>;
  setLock(version: string, timing?: LockTiming): Promise<void>;
  /** Says what the next sale does between read and write, or the next few. */
  script(script: SaleScript): Promise<void>;
  /** Resumes the sales and ticks that are held. */
  resume(): Promise<void>;
  /** Forgets counts and history. */
  reset(): Promise<void>;
  history(): Promise<LabHistory>;
  /** Calls `onPush` with what the node records, at once with all that it has so far, whatever becomes of its process. */
  follow(onPush: FollowOptions['onPush']): { close(): void };
  redis(): Promise<RedisState>;
  /** The bytes in use after a forced collection. */
  heap(): Promise<number>;
  /** The stock as it is now, under no lock; undefined when there is none. */
  stock(sku?: string): Promise<number | undefined>;
  setStock(stock: number, sku?: string): Promise<void>;
  /** Deletes the stock, and the lock of the stage that is set. */
  clear(sku?: string): Promise<void>;
  /** Changes the guard of the clean-up. */
  setGuard(lock: string, timing?: GuardTiming): Promise<void>;
  /** Says where the next tick of the clean-up is held until resumed. */
  scriptTick(script: TickScript): Promise<void>;
  /** Runs one tick of the clean-up, however long it takes. */
  tick(): Promise<TickResult>;
  /** How many ticks of this node are under way, and how many of them are held. */
  ticks(): Promise<Pick<JobState, 'running' | 'held'>>;
  /** How many requests this node is answering, those too whose client has hung up. Only where there are orders. */
  answersUnderWay(): Promise<number>;
  /** Says when ticks of the clean-up come by themselves; never, when it is empty. */
  setSchedule(schedule: JobSchedule): Promise<void>;
  /** The latest ticks that have come by themselves, the last one last. */
  scheduled(): Promise<JobState['scheduled']>;
}

/** Talks to the lab listener at `labUrl`. Every call rejects with one sentence when the answer is late, an error or nonsense. */
export async function openLabClient(labUrl: string): Promise<LabClient> {
  const { port } = nodeStateSchema.parse(await call('GET', '/state'));
  const publicUrl = new URL(labUrl);
  publicUrl.port = String(port);

  return {
    publicUrl: publicUrl.origin,
    labUrl,
    state: async () => shownStateSchema.parse(await call('GET', '/state')),
    isSilentFor: (limitMs) =>
      call('GET', '/state', undefined, [], limitMs).then(
        () => false,
        (error) => error instanceof LateAnswerError,
      ),
    setLock: async (version, timing) =>
      void (await call('PUT', '/lock-version', lockChangeSchema.parse({ version, ...timing }))),
    script: async (script) => void (await call('PUT', '/next-sale', saleScriptSchema.parse(script))),
    resume: async () => void (await call('PUT', '/resume', {})),
    reset: async () => void (await call('DELETE', '/history')),
    follow: (onPush) => followNode(labUrl, { onPush }),
    history: async () => historySchema.parse(await call('GET', '/history')),
    redis: async () => redisSchema.parse(await call('GET', '/redis')),
    heap: async () => heapSchema.parse(await call('GET', '/heap')).usedBytes,
    stock: async (sku) => {
      const answer = await call('GET', `/stock${queryOf(sku)}`, undefined, [404]);
      return answer === undefined ? undefined : remainingSchema.parse(answer).remaining;
    },
    setStock: async (stock, sku) => void (await call('PUT', '/stock', stockSchema.parse({ stock, sku }))),
    clear: async (sku) => void (await call('DELETE', `/stock${queryOf(sku)}`)),
    setGuard: async (lock, timing) =>
      void (await call('PUT', '/job-lock', guardChangeSchema.parse({ lock, ...timing }))),
    scriptTick: async (script) => void (await call('PUT', '/next-cleanup', tickScriptSchema.parse(script))),
    tick: async () => tickResultSchema.parse(await call('POST', '/jobs/cleanup', {}, [], TICK_LIMIT_MS)),
    ticks: async () => {
      const { running, held } = jobStateSchema.parse(await call('GET', '/jobs/cleanup'));
      return { running, held };
    },
    answersUnderWay: async () => answersSchema.parse(await call('GET', '/answers')).underWay,
    setSchedule: async (schedule) => void (await call('PUT', '/job-schedule', jobScheduleSchema.parse(schedule))),
    scheduled: async () => jobStateSchema.parse(await call('GET', '/jobs/cleanup')).scheduled,
  };

  async function call(
    method: string,
    path: string,
    body?: object,
    absent: number[] = [],
    limitMs = ANSWER_LIMIT_MS,
  ): Promise<unknown> {
    const url = new URL(path, labUrl);
    const response = await fetch(url, {
      method,
      signal: AbortSignal.timeout(limitMs),
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    }).catch((error: Error) => {
      const ErrorClass = error.name === 'TimeoutError' ? LateAnswerError : Error;
      throw new ErrorClass(`${method} ${url} got no answer (${causeOf(error)}).`);
    });
    if (response.status === 204 || absent.includes(response.status)) return undefined;
    const answer = await response.text();
    if (!response.ok) throw new Error(`${method} ${url} was answered ${response.status}: ${answer.slice(0, 200)}`);
    try {
      return JSON.parse(answer);
    } catch {
      throw new Error(`${method} ${url} was answered with what is not JSON: ${answer.slice(0, 200)}`);
    }
  }
}

/** A node has not answered in time. */
class LateAnswerError extends Error {}

const queryOf = (sku: string | undefined) => (sku === undefined ? '' : `?sku=${sku}`);

function causeOf(error: Error) {
  return error.cause instanceof Error ? error.cause.message : error.message;
}
