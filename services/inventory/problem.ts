// What may go wrong, for every room: the errors that a client is told of, and that of an external lock.

import { inspect } from 'node:util';

/** Every code with its HTTP status: the one place that maps codes to HTTP. */
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

/** What `docs/reference/http-api.md` says of each: when it is certain that the sale did not take place, and what the code means. */
export const problemMeanings: Record<ProblemCode, [definite: string, means: string]> = {
  BAD_REQUEST: [
    'yes',
    'The request is not valid HTTP or JSON, has an unknown parameter, or has a value that is not allowed here.',
  ],
  IDEMPOTENCY_KEY_MISSING: ['yes', 'IDEMPOTENCY_REQUIRED is on, and there is no Idempotency-Key.'],
  IDEMPOTENCY_KEY_INVALID: [
    'yes',
    'The Idempotency-Key is empty, longer than 255, has other characters, or comes twice.',
  ],
  HOST_REFUSED: ['yes', 'Admin API: the Host is not a name of this listener. LAB_ALLOWED_HOSTS may allow it.'],
  ORIGIN_REFUSED: ['yes', 'A web page of another site sent the request.'],
  NOT_FOUND: ['yes', 'There is no such path, sku or order.'],
  METHOD_NOT_ALLOWED: ['yes', 'The path has other methods: the header Allow lists them.'],
  REQUEST_TIMEOUT: ['yes', 'The request did not arrive within REQUEST_TIMEOUT_MS.'],
  BODY_TOO_LARGE: ['yes', 'The body is larger than 1 kB (a node) or 16 kB (nginx).'],
  UNSUPPORTED_MEDIA_TYPE: ['yes', 'The body is not application/json, or in an unknown charset or encoding.'],
  IDEMPOTENCY_KEY_REUSED: ['yes', 'The same Idempotency-Key came with another sku, order or step.'],
  HEADERS_TOO_LARGE: ['yes', 'The headers are larger than 16 kB.'],
  OUT_OF_STOCK: ['yes', 'The stock is 0. The problem has `outcome: "sold-out"`.'],
  ORDER_STATE: ['yes', 'This step does not lead from the state of the order.'],
  REQUEST_IN_PROGRESS: ['no', 'The first request with this Idempotency-Key has no answer yet. This one did nothing.'],
  SALES_IN_FLIGHT: ['yes', 'Admin API: a sale, or a clean-up that restores units, is under way on this node.'],
  CLIENT_GONE: ['yes', 'Only in logs and events: the client hung up while its sale waited for the lock.'],
  LOCK_WAIT_TIMEOUT: ['yes', 'The lock was not free within WAIT_TIMEOUT_MS.'],
  STORE_UNAVAILABLE: [
    'until the write was sent',
    'A server did not answer within 0.7 s (MySQL: 2 s), or refused a command.',
  ],
  DATA_UNREADABLE: ['yes', 'A Redis key holds something else than it must, such as a stock that is not a number.'],
  COMMAND_MISSING: ['yes', 'This Redis lacks the command that the lock needs.'],
  NOT_REPLICATED: [
    'if the lock was not confirmed',
    'Under replicated, no replica confirmed the lock or the write in time.',
  ],
  TOO_MANY_CONFLICTS: ['yes', 'The write lost against other writers too often, or MySQL reported five deadlocks.'],
  ORDER_FAILED: ['if the unit is back', 'The unit was taken, and the order was not written, or may not have been.'],
  SHUTTING_DOWN: ['yes', 'The node is stopping.'],
  TOO_MANY_STREAMS: ['yes', 'Admin API: eight clients follow the events of this node already.'],
  STALE_TOKEN: ['yes', 'The stock has seen a newer fencing token: this sale lost its lock and wrote nothing.'],
  HALF_SOLD: ['no', 'Some skus of a basket were taken, or may have been, and others were not.'],
  LOCK_NOT_HELD: ['if nothing was written', 'At the release the lock was no longer held.'],
  LOCK_FAILED: ['until the write', 'A lock from LOCK_MODULES threw, answered nonsense, or never answered.'],
  INTERNAL_ERROR: ['until the write', 'A bug; the log of the node has it.'],
};

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
