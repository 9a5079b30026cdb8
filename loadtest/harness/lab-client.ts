// A node as the harness sees it: its public listener, and its lab listener.

import {
  heapSchema,
  historySchema,
  redisSchema,
  shownStateSchema,
  stockSchema,
} from '../../services/inventory/admin/contract.ts';
import {
  type GuardTiming,
  type JobChange,
  type JobSchedule,
  jobChangeSchema,
  jobStateSchema,
  type TickScript,
  tickResultSchema,
} from '../../services/inventory/orders/contract.ts';
import {
  type LockTiming,
  lockChangeSchema,
  nodeStateSchema,
  type SaleScript,
  saleScriptSchema,
} from '../../services/inventory/sale/contract.ts';
import { remainingSchema } from '../../services/inventory/sale/sku.ts';
import { formatDuration } from '../narration/numbers.ts';
import { type FollowOptions, followNode } from './event-stream.ts';

/** How long a lab listener may take to answer, in milliseconds. */
const ANSWER_LIMIT_MS = 10_000;

/** How long a tick may take that is held while an audience looks at it, in milliseconds. */
const TICK_LIMIT_MS = 3_600_000;

export type LabClient = Awaited<ReturnType<typeof openLabClient>>;

/** Talks to the lab listener at `labUrl`. Every call rejects with one sentence when the answer is late, an error or nonsense. */
export async function openLabClient(labUrl: string) {
  const { port } = nodeStateSchema.parse(await call('GET', '/state'));
  const publicUrl = new URL(labUrl);
  publicUrl.port = String(port);
  const changeJob = (change: JobChange) => send('PUT', '/jobs/cleanup', jobChangeSchema.parse(change));

  return {
    /** The public listener, for sales that go past nginx. */
    publicUrl: publicUrl.origin,
    /** The lab listener. */
    labUrl,
    state: async () => shownStateSchema.parse(await call('GET', '/state')),
    /** True when it takes connections and leaves a question unanswered for so long: neither alive nor dead. */
    isSilentFor: (limitMs: number) =>
      call('GET', '/state', undefined, [], limitMs).then(
        () => false,
        (error) => error instanceof LateAnswerError,
      ),
    setLock: (version: string, timing?: LockTiming) =>
      send('PUT', '/lock-version', lockChangeSchema.parse({ version, ...timing })),
    /** Says what the next sale does between read and write, or the next few. */
    script: (script: SaleScript) => send('PUT', '/next-sale', saleScriptSchema.parse(script)),
    /** Resumes the sales and ticks that are held. */
    resume: () => send('PUT', '/resume', {}),
    /** Forgets counts and history. */
    reset: () => send('DELETE', '/history'),
    history: async () => historySchema.parse(await call('GET', '/history')),
    /** Calls `onPush` with what the node records, at once with all that it has so far, whatever becomes of its process. */
    follow: (onPush: FollowOptions['onPush']) => followNode(labUrl, { onPush }),
    redis: async () => redisSchema.parse(await call('GET', '/redis')),
    /** The bytes in use after a forced collection. */
    heap: async () => heapSchema.parse(await call('GET', '/heap')).usedBytes,
    /** The stock as it is now, under no lock; undefined when there is none. */
    async stock(sku?: string): Promise<number | undefined> {
      const answer = await call('GET', `/stock${queryOf(sku)}`, undefined, [404]);
      return answer === undefined ? undefined : remainingSchema.parse(answer).remaining;
    },
    setStock: (stock: number, sku?: string) => send('PUT', '/stock', stockSchema.parse({ stock, sku })),
    /** Deletes the stock, and the lock of the stage that is set. */
    clear: (sku?: string) => send('DELETE', `/stock${queryOf(sku)}`),
    /** Changes the guard of the clean-up. */
    setGuard: (lock: string, timing?: GuardTiming) => changeJob({ guard: { lock, ...timing } }),
    /** Says where the next tick of the clean-up is held until resumed. */
    scriptTick: (script: TickScript) => changeJob({ script }),
    /** Runs one tick of the clean-up, however long it takes. */
    tick: async () => tickResultSchema.parse(await call('POST', '/jobs/cleanup', {}, [], TICK_LIMIT_MS)),
    /** The ticks of this node: how many are under way, how many of them are held, and the latest that have come by themselves. */
    ticks: async () => jobStateSchema.parse(await call('GET', '/jobs/cleanup')),
    /** Says when ticks of the clean-up come by themselves; never, when it is empty. */
    setSchedule: (schedule: JobSchedule) => changeJob({ schedule }),
  };

  async function send(method: string, path: string, body?: object): Promise<void> {
    await call(method, path, body);
  }

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
      if (error.name !== 'TimeoutError') throw new Error(`${method} ${url} got no answer (${causeOf(error)}).`);
      const why = 'its process may compute without end, or the machine is too busy';
      throw new LateAnswerError(`${method} ${url} got no answer within ${formatDuration(limitMs)}: ${why}.`);
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
