import type { Pool } from 'mysql2/promise';
import type { Servers } from '../../../../locks/lock.ts';
import { ProblemError } from '../../problem.ts';
import type { SaleService } from '../../sale/sale-service.ts';
import type { Ask } from '../../servers/transaction.ts';

/**
 * The words used in every strategy:
 *
 * - key: what the client sends as `Idempotency-Key`. It names one purchase, or one refund; a repeat has the same key.
 * - fingerprint: what is asked for. The same key with another fingerprint is a mistake of the client.
 * - first: the request that does the work. Every other one with its key is a repeat.
 */
export interface KeyedRequest {
  key: string;
  fingerprint: string;
}

/** An answer as it is sent, so that it can be sent again, to the byte. */
export interface Answer {
  status: number;
  body: string;
}

/**
 * Stores the result in the transaction that makes it: both are there, or neither. Rejects when
 * this request is no longer the first of its key; then the transaction must not be committed.
 */
export type Keep = (ask: Ask, result: object) => Promise<void>;

/** Makes the order, or the refund. Resolves with what to answer; rejects with ProblemError. A strategy that stores the result gives `keep`. */
export type Work = (keep?: Keep) => Promise<object>;

/**
 * Has the work done, or answers what was answered before. Rejects as the work does, and with ProblemError REQUEST_IN_PROGRESS
 * while the first runs, or IDEMPOTENCY_KEY_REUSED when the fingerprint is not that of the first.
 */
export type Once = (request: KeyedRequest, work: Work) => Promise<Answer & { isRepeat?: boolean }>;

export interface OnceOptions {
  servers: Servers;
  /** Has the node release what a lock may still hold after a failure. */
  followed: SaleService['followed'];
  /** Where the orders are. Absent when there are none. */
  orders: Pool | undefined;
  leaseMs: number;
  /** How long a request that comes now may wait for the lock of its sale, in milliseconds. */
  waitTimeoutMs: () => number;
  /** How long a key is known, in milliseconds. */
  keepMs: number;
}

export type CreateOnce = (options: OnceOptions) => Once;

export const succeeded = (result: object): Answer => ({ status: 200, body: JSON.stringify(result) });

/**
 * The answer to keep for work that failed. Undefined for what a repeat may do
 * better: a server or a lock that was not there, or an outcome that nobody knows.
 */
export function failedForGood(error: unknown): Answer | undefined {
  if (!(error instanceof ProblemError) || error.problem.status >= 500 || !error.problem.definite) return undefined;
  return { status: error.problem.status, body: JSON.stringify(error.problem) };
}

/** What a repeat gets: the answer of the first. Throws ProblemError when there is none, or it is not for this request. */
export function repeat(first: { fingerprint: string; answer: Answer | undefined }, request: KeyedRequest) {
  mustBeSame(first.fingerprint, request);
  if (first.answer === undefined) throw inProgress(request.key);
  return { ...first.answer, isRepeat: true };
}

/** Throws ProblemError when the key of the first is used for something else. */
export function mustBeSame(first: string, { key, fingerprint }: KeyedRequest) {
  if (first === fingerprint) return;
  const detail = `The key ${key} was sent with "${first}", and now with "${fingerprint}".`;
  throw new ProblemError('IDEMPOTENCY_KEY_REUSED', detail);
}

/** Not definite: the first request may sell yet. */
export const inProgress = (key: string) =>
  new ProblemError('REQUEST_IN_PROGRESS', `The first request with the key ${key} has no answer yet.`, {
    definite: false,
  });
