import { ProblemError } from '../../problem.ts';

/** The longest key, in characters. */
export const MAX_KEY_LENGTH = 255;

/**
 * Reads the header `Idempotency-Key`, which is a String of Structured Fields: ASCII in double quotes, with \" and \\ for these
 * two signs (draft-ietf-httpapi-idempotency-key-header, RFC 9651). Many clients leave the quotes away, so a value of letters,
 * digits and . _ ~ : + / = - is taken as it is, and is the same key as with quotes. Parameters are refused. Throws
 * ProblemError.
 */
export function readKey(value: string): string {
  const [, quoted, bare] = /^(?:"((?:[ !#-[\]-~]|\\["\\])*)"|([\w.~:+/=-]+))$/.exec(value.trim()) ?? [];
  const key = quoted?.replace(/\\(["\\])/g, '$1') ?? bare;
  if (key === undefined) refuse('must be one text of ASCII signs in double quotes');
  if (key === '') refuse('must not be empty');
  if (key.length > MAX_KEY_LENGTH) refuse(`must not be longer than ${MAX_KEY_LENGTH}`);
  return key;
}

function refuse(why: string): never {
  throw new ProblemError('IDEMPOTENCY_KEY_INVALID', `Idempotency-Key ${why}.`);
}
