// A client of a real node's admin API.

import {
  heapSchema,
  historySchema,
  redisSchema,
  shownStateSchema,
  stockSchema,
} from '../../../services/inventory/admin/contract.ts';
import {
  type JobChange,
  jobChangeSchema,
  jobStateSchema,
  tickResultSchema,
} from '../../../services/inventory/orders/contract.ts';
import { lockChangeSchema, nodeStateSchema, saleScriptSchema } from '../../../services/inventory/sale/contract.ts';
import { remainingSchema } from '../../../services/inventory/sale/sku.ts';
import { isLate, type LabClient, LateAnswerError } from '../../harness/target.ts';
import { formatDuration } from '../../narration/numbers.ts';
import { followNode } from './event-stream.ts';

/** How long the admin API may take to respond, in milliseconds. */
const ANSWER_LIMIT_MS = 10_000;

/** How long a tick may take that is held while an audience looks at it, in milliseconds. */
const TICK_LIMIT_MS = 3_600_000;

/** Talks to the admin API at `labUrl`. Every call rejects with one sentence when the answer is late, an error or nonsense. */
export async function openLabClient(labUrl: string): Promise<LabClient> {
  const { port } = nodeStateSchema.parse(await call('GET', '/state'));
  const publicUrl = new URL(labUrl);
  publicUrl.port = String(port);
  const changeJob = (change: JobChange) => send('PUT', '/jobs/cleanup', jobChangeSchema.parse(change));

  return {
    publicUrl: publicUrl.origin,
    labUrl,
    state: async () => shownStateSchema.parse(await call('GET', '/state')),
    isSilentFor: (limitMs) => isLate(call('GET', '/state', undefined, [], limitMs)),
    setLock: (version, timing) => send('PUT', '/lock-version', lockChangeSchema.parse({ version, ...timing })),
    script: (script) => send('PUT', '/next-sale', saleScriptSchema.parse(script)),
    resume: () => send('PUT', '/resume', {}),
    reset: () => send('DELETE', '/history'),
    history: async () => historySchema.parse(await call('GET', '/history')),
    follow: (onPush) => followNode(labUrl, { onPush }),
    redis: async () => redisSchema.parse(await call('GET', '/redis')),
    heap: async () => heapSchema.parse(await call('GET', '/heap')).usedBytes,
    async stock(sku) {
      const answer = await call('GET', `/stock${queryOf(sku)}`, undefined, [404]);
      return answer === undefined ? undefined : remainingSchema.parse(answer).remaining;
    },
    setStock: (stock, sku) => send('PUT', '/stock', stockSchema.parse({ stock, sku })),
    clear: (sku) => send('DELETE', `/stock${queryOf(sku)}`),
    setGuard: (lock, timing) => changeJob({ guard: { lock, ...timing } }),
    scriptTick: (script) => changeJob({ script }),
    tick: async () => tickResultSchema.parse(await call('POST', '/jobs/cleanup', {}, [], TICK_LIMIT_MS)),
    ticks: async () => jobStateSchema.parse(await call('GET', '/jobs/cleanup')),
    setSchedule: (schedule) => changeJob({ schedule }),
    report: (order) => send('POST', '/jobs/report', order),
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
      if (error.name !== 'TimeoutError') throw new Error(`${method} ${url} got no response (${causeOf(error)}).`);
      const why = 'its process may be stuck in a computation, or the machine is too busy';
      throw new LateAnswerError(`${method} ${url} got no response within ${formatDuration(limitMs)}: ${why}.`);
    });
    if (response.status === 204 || absent.includes(response.status)) return undefined;
    const answer = await response.text();
    if (!response.ok) throw new Error(`${method} ${url} got the response ${response.status}: ${answer.slice(0, 200)}`);
    try {
      return JSON.parse(answer);
    } catch {
      throw new Error(`${method} ${url} got a response that is not JSON: ${answer.slice(0, 200)}`);
    }
  }
}

const queryOf = (sku: string | undefined) => (sku === undefined ? '' : `?sku=${sku}`);

function causeOf(error: Error) {
  return error.cause instanceof Error ? error.cause.message : error.message;
}
