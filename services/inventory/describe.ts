// What a module of somebody else has thrown, returned, or done.

import { inspect } from 'node:util';

export function describe(value: unknown): string {
  const text = value instanceof Error ? `${value.name}: ${value.message}` : inspect(value, { depth: 1 });
  return text.replace(/\s+/g, ' ').trim().slice(0, 200);
}

/** What an external lock did that no lock may do. The message is a clause, without a full stop. */
export class ExternalLockFault extends Error {
  readonly code = 'LOCK_FAILED';
}
