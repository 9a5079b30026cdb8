// The problems that a client can get, and the error of an external lock.

import { inspect } from 'node:util';

/** Every code with its HTTP status: the one place that maps codes to HTTP. */
export const problems = {
  BAD_REQUEST: { status: 400, title: 'The request is not valid' },
  IDEMPOTENCY_KEY_MISSING: { status: 400, title: 'The request needs an Idempotency-Key' },
  IDEMPOTENCY_KEY_INVALID: { status: 400, title: 'The Idempotency-Key is not valid' },
  HOST_REFUSED: { status: 403, title: 'The Host is not a name of this listener' },
  ORIGIN_REFUSED: { status: 403, title: 'Pages of other sites are refused' },
  NOT_FOUND: { status: 404, title: 'There is nothing here' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The method is not allowed' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request took too long to arrive' },
  BODY_TOO_LARGE: { status: 413, title: 'The body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The body must be JSON' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'The Idempotency-Key was used for another request' },
  HEADERS_TOO_LARGE: { status: 431, title: 'The headers are too large' },
  OUT_OF_STOCK: { status: 409, title: 'Sold out' },
  ORDER_STATE: { status: 409, title: 'The order is in the wrong state' },
  REQUEST_IN_PROGRESS: { status: 409, title: 'The first request with this key is still in progress' },
  SALES_IN_FLIGHT: { status: 409, title: 'Sales are in flight' },
  // Nobody is there to be answered.
  CLIENT_GONE: { status: 503, title: 'The client disconnected' },
  LOCK_WAIT_TIMEOUT: { status: 503, title: 'Timed out waiting for the lock' },
  STORE_UNAVAILABLE: { status: 503, title: 'A server does not reply or refuses commands' },
  DATA_UNREADABLE: { status: 503, title: 'A Redis key has an invalid value' },
  COMMAND_MISSING: { status: 503, title: 'Redis lacks a command that the lock needs' },
  NOT_REPLICATED: { status: 503, title: 'No replica confirmed the write' },
  TOO_MANY_CONFLICTS: { status: 503, title: 'Too many conflicting writes' },
  ORDER_FAILED: { status: 503, title: 'The order could not be written' },
  SHUTTING_DOWN: { status: 503, title: 'This node is shutting down' },
  TOO_MANY_STREAMS: { status: 503, title: 'Too many event streams' },
  STALE_TOKEN: { status: 503, title: 'A newer holder has already read or written' },
  HALF_SOLD: { status: 500, title: 'The basket may be partly sold' },
  LOCK_NOT_HELD: { status: 500, title: 'The lock was lost during the sale' },
  LOCK_FAILED: { status: 500, title: 'The lock broke the lock contract' },
  INTERNAL_ERROR: { status: 500, title: 'The service has a bug' },
} as const;

export type ProblemCode = keyof typeof problems;

/**
 * What `docs/reference/http-api.md` says about each: when it is certain that the sale did not take place, and what the code
 * means.
 */
export const problemMeanings: Record<ProblemCode, [definite: string, means: string]> = {
  BAD_REQUEST: ['yes', 'The request is not valid HTTP or JSON, or has an unknown parameter or an invalid value.'],
  IDEMPOTENCY_KEY_MISSING: ['yes', 'IDEMPOTENCY_REQUIRED is on, but the request has no Idempotency-Key.'],
  IDEMPOTENCY_KEY_INVALID: [
    'yes',
    'The Idempotency-Key is empty, longer than 255 characters, has invalid characters, or is sent twice.',
  ],
  HOST_REFUSED: ['yes', 'Admin API: the Host is not a name of this listener. LAB_ALLOWED_HOSTS can allow it.'],
  ORIGIN_REFUSED: ['yes', 'A web page of another site sent the request.'],
  NOT_FOUND: ['yes', 'There is no such path, sku or order.'],
  METHOD_NOT_ALLOWED: ['yes', 'The path does not support this method. The Allow header lists those that it supports.'],
  REQUEST_TIMEOUT: ['yes', 'The request did not arrive within REQUEST_TIMEOUT_MS.'],
  BODY_TOO_LARGE: ['yes', 'The body is larger than 1 kB (a node) or 16 kB (nginx).'],
  UNSUPPORTED_MEDIA_TYPE: ['yes', 'The body is not application/json, or has an unknown charset or encoding.'],
  IDEMPOTENCY_KEY_REUSED: ['yes', 'The same Idempotency-Key was sent with another sku, order or operation.'],
  HEADERS_TOO_LARGE: ['yes', 'The headers are larger than 16 kB.'],
  OUT_OF_STOCK: ['yes', 'The stock is 0. The problem has `outcome: "sold-out"`.'],
  ORDER_STATE: ['yes', "The order's state does not allow this step."],
  REQUEST_IN_PROGRESS: ['no', 'The first request with this Idempotency-Key has not finished. This one did nothing.'],
  SALES_IN_FLIGHT: ['yes', 'Admin API: a sale, or a cleanup run that restores units, is in progress on this node.'],
  CLIENT_GONE: ['yes', 'Only in logs and events: the client disconnected while its sale waited for the lock.'],
  LOCK_WAIT_TIMEOUT: ['yes', 'The lock was not free within WAIT_TIMEOUT_MS.'],
  STORE_UNAVAILABLE: [
    'until the write was sent',
    'A server did not reply within 0.7 s (MySQL: 2 s), or refused a command.',
  ],
  DATA_UNREADABLE: ['yes', 'A Redis key has an invalid value, such as a stock that is not a number.'],
  COMMAND_MISSING: ['yes', 'This Redis lacks the command that the lock needs.'],
  NOT_REPLICATED: [
    'if the lock was not confirmed',
    'Under replicated, no replica confirmed the lock or the write in time.',
  ],
  TOO_MANY_CONFLICTS: ['yes', 'The write conflicted with other writes too often, or MySQL reported five deadlocks.'],
  ORDER_FAILED: ['if the unit is back', 'The unit was taken, but the order was not, or may not have been, written.'],
  SHUTTING_DOWN: ['yes', 'The node is stopping.'],
  TOO_MANY_STREAMS: ['yes', "Admin API: eight clients already follow this node's events."],
  STALE_TOKEN: ['yes', 'The stock has seen a newer fencing token: this sale lost its lock and wrote nothing.'],
  HALF_SOLD: ['no', 'Some skus of the basket were taken, or may have been; others were not.'],
  LOCK_NOT_HELD: ['if nothing was written', 'The lock was no longer held when it was released.'],
  LOCK_FAILED: [
    'until the write',
    'A lock from LOCK_MODULES threw an error, returned something invalid, or did not return.',
  ],
  INTERNAL_ERROR: ['until the write', "A bug. See the node's log."],
};

/** The response to a refused request: `application/problem+json`, RFC 9457. */
export interface Problem {
  title: string;
  status: number;
  detail: string;
  code: ProblemCode;
  /** True if the sale certainly did not take place, false if it may have. */
  definite: boolean;
  outcome?: 'sold-out' | undefined;
  requestId?: string | undefined;
}

export class ProblemError extends Error {
  readonly code: ProblemCode;
  readonly problem: Problem;

  constructor(
    code: ProblemCode,
    detail: string,
    { definite = true, cause }: { definite?: boolean; cause?: unknown } = {},
  ) {
    super(detail, { cause });
    this.name = 'ProblemError';
    this.code = code;
    const { title, status } = problems[code];
    this.problem = { title, status, detail, code, definite, ...(code === 'OUT_OF_STOCK' && { outcome: 'sold-out' }) };
  }
}

/** An external lock broke the lock contract. The message is a clause, without a full stop. */
export class ExternalLockFault extends Error {
  readonly code = 'LOCK_FAILED';
}

/** Describes a value that an external module threw or returned. */
export function describe(value: unknown): string {
  const text = value instanceof Error ? `${value.name}: ${value.message}` : inspect(value, { depth: 1 });
  return text.replace(/\s+/g, ' ').trim().slice(0, 200);
}
