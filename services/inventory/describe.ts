// What a module of somebody else has thrown or returned, as a text.

import { inspect } from 'node:util';

/** Any value, in one line. */
export function describe(value: unknown): string {
  const text = value instanceof Error ? `${value.name}: ${value.message}` : inspect(value, { depth: 1 });
  return text.replace(/\s+/g, ' ').trim().slice(0, 200);
}
