import type { Request, Response } from 'express';
import type { Pool, ResultSetHeader } from 'mysql2/promise';
import { ProblemError } from '../../problem.ts';
import type { NodeParts } from '../../sale/sale-service.ts';
import { withoutTransaction } from '../../servers/transaction.ts';
import { idempotencyOf } from '../../settings/order-settings.ts';
import { createOnce as inProcess } from './in-process.ts';
import { createOnce as lock } from './lock.ts';
import { createOnce as none } from './none.ts';
import type { CreateOnce, Once, Work } from './once.ts';
import { createOnce as table } from './table.ts';

/** Every strategy by name, in the order of the lesson. The name is also that of its file. */
export const strategies = { none, 'in-process': inProcess, lock, table } satisfies Record<string, CreateOnce>;
export type Idempotency = keyof typeof strategies;

export const MAX_KEY_LENGTH = 255;
/** The most rows that one DELETE removes, so that none blocks others for long. */
const ROWS_AT_ONCE = 1_000;
/** How often a node deletes expired keys, in milliseconds. */
const FORGET_EVERY_MS = { min: 1_000, max: 60_000 };

export type Answers = ReturnType<typeof createAnswers>;

/**
 *
 * Handles requests that may carry a key: the work is done once per key, as far as the strategy of IDEMPOTENCY, or `otherOnce`
 * instead of it, ensures that.
 *
 */
export function createAnswers(
  { settings, servers, sales, isStopping }: Pick<NodeParts, 'settings' | 'servers' | 'sales' | 'isStopping'>,
  orders: Pool | undefined,
  otherOnce: Once | undefined,
) {
  const { LEASE_MS: leaseMs, IDEMPOTENCY_KEEP_MS: keepMs } = settings;
  const { waitTimeoutMs, followed } = sales;
  const idempotency = idempotencyOf(settings);
  const lockServers = servers.forLock('8-auto-renew', leaseMs);
  const options = { servers: lockServers, followed, orders, leaseMs, waitTimeoutMs, keepMs };
  const once = otherOnce ?? strategies[idempotency](options);
  if (idempotency === 'table' && orders) keepForgetting(orders, keepMs);
  const underWay = new Set<Promise<unknown>>();

  async function answer(request: Request, response: Response, fingerprint: string, work: Work) {
    if (isStopping()) throw new ProblemError('SHUTTING_DOWN', 'This node accepts no new work.');
    const header = request.get('Idempotency-Key');
    if (header === undefined && settings.IDEMPOTENCY_REQUIRED === 'on')
      throw new ProblemError('IDEMPOTENCY_KEY_MISSING', 'Send the header Idempotency-Key.');
    if (header === undefined) return work();
    const { status, body, isRepeat } = await once({ key: readKey(header), fingerprint }, (keep) =>
      // What is kept is what the first request is answered, to the byte.
      work(keep).catch((error) => {
        if (error instanceof ProblemError) error.problem.requestId = response.locals['requestId'];
        throw error;
      }),
    );
    if (isRepeat) response.set('Idempotent-Replayed', 'true');
    response.status(status);
    // What is kept is JSON, whoever asks for it.
    if (response.locals['inWords']) return JSON.parse(body);
    response.type(status < 400 ? 'application/json' : 'application/problem+json').send(body);
    return undefined;
  }

  return {
    /** For work with a key that does not come from a client's request. */
    once,
    /** True if a request has a key, or must have one. */
    areAround: (request: Request) =>
      settings.IDEMPOTENCY_REQUIRED === 'on' || request.get('Idempotency-Key') !== undefined,
    /**
     *
     * Resolves with the response if the request has no key, else sends it. The fingerprint identifies what is requested.
     * Rejects as the work does, or with ProblemError. A stopping node waits for it.
     *
     */
    answer(...args: Parameters<typeof answer>) {
      const answered = answer(...args).finally(() => underWay.delete(answered));
      underWay.add(answered);
      return answered;
    },
    underWay: () => underWay.size,
    ended: () => Promise.allSettled(underWay),
  };
}

/** Deletes expired keys periodically. While MySQL is unavailable they remain. */
function keepForgetting(mysql: Pool, keepMs: number) {
  const sql = `DELETE FROM tb_request WHERE kept_until <= UTC_TIMESTAMP(3) LIMIT ${ROWS_AT_ONCE}`;
  const forgetSome = async () => (await withoutTransaction(mysql, (ask) => ask<ResultSetHeader>(sql))).affectedRows;
  async function forget() {
    while ((await forgetSome()) === ROWS_AT_ONCE);
  }
  const everyMs = Math.min(Math.max(keepMs, FORGET_EVERY_MS.min), FORGET_EVERY_MS.max);
  setInterval(() => void forget().catch(() => {}), everyMs).unref();
}

/**
 * Reads the header `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): a String of RFC 9651. A value of letters,
 * digits and . _ ~ : + / = - without quotes is the same key as with them. Parameters are refused. Throws ProblemError.
 */
export function readKey(value: string): string {
  const [, quoted, bare] = /^(?:"((?:[ !#-[\]-~]|\\["\\])*)"|([\w.~:+/=-]+))$/.exec(value.trim()) ?? [];
  const key = quoted?.replace(/\\(["\\])/g, '$1') ?? bare;
  if (key === undefined) refuse('must be one string of ASCII characters in double quotes');
  if (key === '') refuse('must not be empty');
  if (key.length > MAX_KEY_LENGTH) refuse(`must not be longer than ${MAX_KEY_LENGTH}`);
  return key;
}

function refuse(why: string): never {
  throw new ProblemError('IDEMPOTENCY_KEY_INVALID', `Idempotency-Key ${why}.`);
}
