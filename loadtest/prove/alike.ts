// What a real process and a real server say, compared with what those of the search said.
//
// These are not compared, because they can't be the same:
// - which uuid it is: a real one is random, one of the search is a name with a number;
// - how many milliseconds of a lease are left: fewer on a clock that goes on. So a number that is too large to count
//   anything may differ by less than a lease;
// - what SUBSCRIBE and UNSUBSCRIBE answer: a client gives a count, the server of the search the whole message;
// - the words of an error after its code: each version of a server has its own.

import { createHash } from 'node:crypto';
import { LEASE_MS } from '../../prove/sale.ts';

/** No stock, no token and no hold count of a few processes is larger. */
const MOST_COUNTED = 20;

const uuids = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[A-Z]-\d+\b/g;
const sha1Of = (text: string) => createHash('sha1').update(text).digest('hex');

/** A command as it reached the link, and one of the search: each with its name first. */
export function isSameCommand(real: string[], searched: (string | number)[]): boolean {
  const [one, other] = [real, searched.map(String)].map(byHash) as [string[], string[]];
  return one.length === other.length && one.every((part, at) => isAlike(part, other[at] ?? ''));
}

/** ioredis sends a script of its own in full once for each connection, and by its hash from then on; the search always in full. */
function byHash([name = '', script = '', ...rest]: string[]): string[] {
  return name === 'EVAL' ? ['EVALSHA', sha1Of(script), ...rest] : [name, script, ...rest];
}

/** Two replies as texts: JSON, or the message of an error. */
export function isSameReply(command: string, real: string, searched: string): boolean {
  if (/SUBSCRIBE$/.test(command)) return true;
  return isAlike(parse(real), parse(searched));
}

function parse(reply: string): unknown {
  try {
    return JSON.parse(reply);
  } catch {
    return { error: reply.split(' ')[0] };
  }
}

/** Texts, numbers, and lists of them. */
export function isAlike(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, at) => isAlike(item, other[at]));
  const [text, otherText] = [one, other].map((value) => JSON.stringify(value ?? null).replace(uuids, 'uuid'));
  return text === otherText || (typeof one === typeof other && isAlmost(Number(one), Number(other)));
}

const isAlmost = (one: number, other: number) =>
  Math.min(Math.abs(one), Math.abs(other)) > MOST_COUNTED && Math.abs(one - other) < LEASE_MS;
