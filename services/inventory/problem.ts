// What may go wrong, for every room: the errors that a client is told of, and that of an external lock.

import { inspect } from 'node:util';

/** Every code with its HTTP status: the one place that maps codes to HTTP. `docs/reference/http-api.md` explains each. */
export const problems = {
  BAD_REQUEST: { status: 400, title: 'The request is not valid' },
  IDEMPOTENCY_KEY_MISSING: { status: 400, title: 'The request needs a key' },
  IDEMPOTENCY_KEY_INVALID: { status: 400, title: 'The key is not valid' },
  HOST_REFUSED: { status: 403, title: 'This listener does not have that name' },
  ORIGIN_REFUSED: { status: 403, title: 'A page of another site is refused' },
  NOT_FOUND: { status: 404, title: 'There is nothing here' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The method is not allowed here' },
  REQUEST_TIMEOUT: { status: 408, title: 'The request took too long to arrive' },
  BODY_TOO_LARGE: { status: 413, title: 'The body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The body must be JSON' },
  IDEMPOTENCY_KEY_REUSED: { status: 422, title: 'The key belongs to another request' },
  HEADERS_TOO_LARGE: { status: 431, title: 'The headers are too large' },
  OUT_OF_STOCK: { status: 409, title: 'Sold out' },
  ORDER_STATE: { status: 409, title: 'The order is in another state' },
  REQUEST_IN_PROGRESS: { status: 409, title: 'The first request with this key is under way' },
  SALES_IN_FLIGHT: { status: 409, title: 'Sales are in flight' },
  // Nobody is there to be answered.
  CLIENT_GONE: { status: 503, title: 'The client hung up' },
  LOCK_WAIT_TIMEOUT: { status: 503, title: 'The lock was not free in time' },
  STORE_UNAVAILABLE: { status: 503, title: 'A server does not answer, or refuses' },
  DATA_UNREADABLE: { status: 503, title: 'A key in Redis holds something else than it must' },
  COMMAND_MISSING: { status: 503, title: 'Redis lacks a command of this lock' },
  NOT_REPLICATED: { status: 503, title: 'No replica has confirmed' },
  TOO_MANY_CONFLICTS: { status: 503, title: 'Others wrote at the same time, too often' },
  ORDER_FAILED: { status: 503, title: 'The order could not be written' },
  SHUTTING_DOWN: { status: 503, title: 'This node is shutting down' },
  TOO_MANY_STREAMS: { status: 503, title: 'Too many follow this node' },
  STALE_TOKEN: { status: 503, title: 'A later holder has read or written already' },
  HALF_SOLD: { status: 500, title: 'Only a part of the basket may be taken' },
  LOCK_NOT_HELD: { status: 500, title: 'The lock was lost on the way' },
  LOCK_FAILED: { status: 500, title: 'The lock does not do what a lock must do' },
  INTERNAL_ERROR: { status: 500, title: 'The service has a bug' },
} as const;

export type ProblemCode = keyof typeof problems;

/** The answer to what is refused: `application/problem+json`, RFC 9457. */
export interface Problem {
  title: string;
  status: number;
  detail: string;
  code: ProblemCode;
  /** True when the sale certainly did not take place, false when it may have. */
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

/** What an external lock did that no lock may do. The message is a clause, without a full stop. */
export class ExternalLockFault extends Error {
  readonly code = 'LOCK_FAILED';
}

/** What a module of somebody else has thrown, returned, or done. */
export function describe(value: unknown): string {
  const text = value instanceof Error ? `${value.name}: ${value.message}` : inspect(value, { depth: 1 });
  return text.replace(/\s+/g, ' ').trim().slice(0, 200);
}
