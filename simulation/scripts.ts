// The project's Lua scripts, by text, hash and name.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { About, Message } from './events.ts';

const folder = new URL('../lua/', import.meta.url);

const scripts = readdirSync(folder)
  .toSorted()
  .map((file) => ({ name: file.replace(/\.lua$/, ''), text: readFileSync(new URL(file, folder), 'utf8') }));

/** The texts of the scripts of `lua/`. */
export const scriptTexts = scripts.map(({ text }) => text);

export const sha1Of = (script: string) => createHash('sha1').update(script).digest('hex');

const names = new Map(
  scripts.flatMap(({ name, text }) => [
    [sha1Of(text), name],
    [text, name],
  ]),
);

/** The name of the script that an EVAL or EVALSHA runs. Undefined for another command, and for a script that is not of `lua/`. */
export const scriptOf = ([name, script]: (string | number)[]): string | undefined =>
  /^EVAL/.test(String(name)) ? names.get(String(script)) : undefined;

/** A command as a proxy before the server reads it. */
export interface ReadCommand {
  /** Upper-case, such as `SET`. */
  name: string;
  /** What follows the name, read as UTF-8. */
  args: string[];
  /** The name of the `lua/*.lua` that an EVALSHA or EVAL runs, such as `release-if-owner`. */
  script?: string;
}

export function asRead([verb = '', ...rest]: (string | number)[]): ReadCommand {
  const name = String(verb).toUpperCase();
  const args = rest.map(String);
  const script = scriptOf([name, ...args.slice(0, 1)]);
  return { name, args, ...(script !== undefined && { script }) };
}

/** A readable command, and what it is about. */
export function readableOf(command: (string | number)[]): Pick<Message, 'name' | 'verb' | 'about' | 'args'> {
  const [first = '', ...rest] = command.map(String);
  const keysEnd = /^EVAL/.test(first) ? 2 + Number(rest[1]) : 1;
  return {
    name: scriptOf(command) ?? first,
    verb: verbOf(command),
    about: aboutOf(rest.slice(/^EVAL/.test(first) ? 2 : 0, keysEnd)),
    args: rest.slice(keysEnd),
  };
}

function aboutOf(keys: string[]): About {
  const isOf = (part: string) => keys.some((key) => key.includes(part));
  if (isOf(':stock')) return 'stock';
  return isOf(':lock:') ? 'lock' : 'other';
}

/** The short name of a command: a script by its name, others with their object: `DEL lock`, `SET stock 99`. */
export function verbOf(command: (string | number)[]): string {
  const [verb = '', key = '', value] = command.map(String);
  if (/^EVAL/.test(verb)) return scriptOf(command) ?? 'a script of the lock';
  const [, lock = '', stock = '', rest = ''] = /:(?:(lock):[^:]+|(stock))(:.*)?$/.exec(key) ?? [];
  const written = verb === 'SET' && stock ? [value] : [];
  return [verb, `${lock}${stock}${rest}`, ...written].filter(Boolean).join(' ');
}
