import type { Pool } from 'mysql2/promise';
import type { Servers } from '../../../../locks/lock.ts';
import { ProblemError } from '../../problem.ts';
import type { SaleService } from '../../sale/sale-service.ts';
import type { Ask } from '../../servers/transaction.ts';

/**
 * The terms used in every strategy:
 *
 * - key: what the client sends as `Idempotency-Key`. It names one purchase, or one refund; a repeat has the same key.
 * - fingerprint: what is asked for. The same key with another fingerprint is a mistake of the client.
 * - first: the request that does the work. Every other one with its key is a repeat.
 */
export interface KeyedRequest {
  key: string;
  fingerprint: string;
}

/** A response as sent, so that it can be repeated byte for byte. */
export interface Answer {
  status: number;
  body: string;
}

/**
 * Stores the result in the transaction that creates it: both are there, or neither. Rejects when
 * this request is no longer the first of its key; then the transaction must not be committed.
 */
export type Keep = (ask: Ask, result: object) => Promise<void>;

/**
 * Creates the order or the refund. Resolves with the response; rejects with ProblemError. A strategy that stores the result
 * gives `keep`.
 */
export type Work = (keep?: Keep) => Promise<object>;

/**
 * Does the work, or repeats the earlier response. Rejects like the work, and with ProblemError REQUEST_IN_PROGRESS
 * while the first runs, or IDEMPOTENCY_KEY_REUSED when the fingerprint is not that of the first.
 */
export type Once = (request: KeyedRequest, work: Work) => Promise<Answer & { isRepeat?: boolean }>;

export interface OnceOptions {
  servers: Servers;
  /** Makes the node release what a lock may still hold after a failure. */
  followed: SaleService['followed'];
  /** The database of the orders. Absent if there are no orders. */
  orders: Pool | undefined;
  leaseMs: number;
  /** How long a new request may wait for its sale's lock, in milliseconds. */
  waitTimeoutMs: () => number;
  /** How long a key is remembered, in milliseconds. */
  keepMs: number;
}

export type CreateOnce = (options: OnceOptions) => Once;

export const succeeded = (result: object): Answer => ({ status: 200, body: JSON.stringify(result) });

/**
 *
 * The response to store for work that failed. Undefined if a repeat may succeed: an unavailable server or lock, or an unknown
 * outcome.
 *
 */
export function failedForGood(error: unknown): Answer | undefined {
  if (!(error instanceof ProblemError) || error.problem.status >= 500 || !error.problem.definite) return undefined;
  return { status: error.problem.status, body: JSON.stringify(error.problem) };
}

/**
 * What a repeat gets: the response of the first request. Throws ProblemError if there is none, or if it is not for this
 * request.
 */
export function repeat(first: { fingerprint: string; answer: Answer | undefined }, request: KeyedRequest) {
  mustBeSame(first.fingerprint, request);
  if (first.answer === undefined) throw inProgress(request.key);
  return { ...first.answer, isRepeat: true };
}

/** Throws ProblemError if the key is used for something else. */
export function mustBeSame(first: string, { key, fingerprint }: KeyedRequest) {
  if (first === fingerprint) return;
  const detail = `The key ${key} was first sent with "${first}", and now with "${fingerprint}".`;
  throw new ProblemError('IDEMPOTENCY_KEY_REUSED', detail);
}

/** Not definite: the first request may still sell. */
export const inProgress = (key: string) =>
  new ProblemError('REQUEST_IN_PROGRESS', `The first request with the key ${key} has not finished.`, {
    definite: false,
  });
