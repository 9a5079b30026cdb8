import { z } from 'zod';
import { eventSchema, type NodeState, stateSchema } from '../../services/inventory/lab/contract.ts';

/** How long a lab listener may take to answer, in milliseconds. */
const ANSWER_LIMIT_MS = 10_000;

/** How long a tick may take that stays where it was told to, while an audience looks at it, in milliseconds. */
const TICK_LIMIT_MS = 3_600_000;

const count = z.int().min(0);

/** What one tick of the clean-up did, as its node says. */
const tickSchema = z.object({
  outcome: z.enum(['ran', 'skipped', 'failed']),
  due: count,
  closed: count,
  restored: count,
  code: z.string().optional(),
  detail: z.string().optional(),
});
const jobSchema = z.object({ running: count, held: count });

const historySchema = z.object({ events: z.array(eventSchema), dropped: count });
const redisSchema = z.object({ server: z.string(), version: z.string(), commandsProcessed: count, masters: count });
const heapSchema = z.object({ usedBytes: count });
const stockSchema = z.object({ remaining: z.int() });

export type TickResult = z.infer<typeof tickSchema>;

/** In milliseconds; what is left out is as the node was started. */
export interface LockTiming {
  leaseMs?: number | undefined;
  retryDelayMs?: number | undefined;
  waitTimeoutMs?: number | undefined;
}

/** The steps of a scripted sale between read and write, in this order. `docs/http-api.md` explains them. */
export interface SaleScript {
  nestedCall?: boolean;
  pauseMs?: number;
  untilResumed?: boolean;
  beforeAnswer?: boolean;
  times?: number;
}

/** Where a scripted tick of the clean-up stays until told to go on, and after how many orders. */
export interface TickScript {
  after: 'read' | 'restored' | 'closed';
  orders: number;
}

/** A node as the harness sees it: its public listener, and its lab listener. */
export interface LabClient {
  /** The public listener, for sales that go past nginx. */
  publicUrl: string;
  state(): Promise<NodeState>;
  /** True when it takes connections and leaves a question unanswered for so long: neither alive nor dead. */
  isSilentFor(limitMs: number): Promise<boolean>;
  setLock(version: string, timing?: LockTiming): Promise<void>;
  /** Says what the next sale does between read and write, or the next few. */
  script(script: SaleScript): Promise<void>;
  /** Tells the sales that stay inside until told to go on. */
  resume(): Promise<void>;
  /** Forgets counts and history. */
  reset(): Promise<void>;
  history(): Promise<z.infer<typeof historySchema>>;
  redis(): Promise<z.infer<typeof redisSchema>>;
  /** The bytes in use after a forced collection. */
  heap(): Promise<number>;
  /** The stock, or undefined when there is none. */
  stock(sku?: string): Promise<number | undefined>;
  setStock(stock: number, sku?: string): Promise<void>;
  /** Deletes the stock, and the lock of the stage that is set. */
  clear(sku?: string): Promise<void>;
  /** Changes the guard of the clean-up. */
  setGuard(lock: string, timing?: { leaseMs?: number; minHoldMs?: number }): Promise<void>;
  /** Says where the next tick of the clean-up stays. */
  scriptTick(script: TickScript): Promise<void>;
  /** Runs one tick of the clean-up, however long it takes. */
  tick(): Promise<TickResult>;
  /** The ticks of this node: how many are under way, and how many of them stay where they were told to. */
  ticks(): Promise<z.infer<typeof jobSchema>>;
}

/** Talks to the lab listener at `labUrl`. Every call rejects with one sentence when the answer is late, an error or nonsense. */
export async function openLabClient(labUrl: string): Promise<LabClient> {
  const { port } = stateSchema.parse(await call('GET', '/state'));
  const publicUrl = new URL(labUrl);
  publicUrl.port = String(port);

  return {
    publicUrl: publicUrl.origin,
    state: async () => stateSchema.parse(await call('GET', '/state')),
    isSilentFor: (limitMs) =>
      call('GET', '/state', undefined, [], limitMs).then(
        () => false,
        (error) => error instanceof LateAnswerError,
      ),
    setLock: async (version, timing) => void (await call('PUT', '/lock-version', { version, ...timing })),
    script: async (script) => void (await call('PUT', '/next-sale', script)),
    resume: async () => void (await call('PUT', '/resume', {})),
    reset: async () => void (await call('DELETE', '/history')),
    history: async () => historySchema.parse(await call('GET', '/history')),
    redis: async () => redisSchema.parse(await call('GET', '/redis')),
    heap: async () => heapSchema.parse(await call('GET', '/heap')).usedBytes,
    stock: async (sku) => {
      const answer = await call('GET', `${publicUrl.origin}/inventory${queryOf(sku)}`, undefined, [404]);
      return answer === undefined ? undefined : stockSchema.parse(answer).remaining;
    },
    setStock: async (stock, sku) => void (await call('PUT', '/stock', { stock, ...(sku !== undefined && { sku }) })),
    clear: async (sku) => void (await call('DELETE', `/stock${queryOf(sku)}`)),
    setGuard: async (lock, timing) => void (await call('PUT', '/job-lock', { lock, ...timing })),
    scriptTick: async (script) => void (await call('PUT', '/next-cleanup', { ...script })),
    tick: async () => tickSchema.parse(await call('POST', '/jobs/cleanup', {}, [], TICK_LIMIT_MS)),
    ticks: async () => jobSchema.parse(await call('GET', '/jobs/cleanup')),
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
