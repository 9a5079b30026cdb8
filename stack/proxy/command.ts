// What a command is called: by its name, or by the script of ours that it runs.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

export interface Command {
  /** Upper-case, such as `SET`. */
  name: string;
  /** What follows the name, read as UTF-8. */
  args: string[];
  /** The name of the `lua/*.lua` that an EVALSHA or EVAL runs, such as `release-if-owner`. */
  script?: string;
  /** Which connection of its link it came on: the first is 1. */
  connection?: number;
}

/** Which commands: a name (`DEL`), a script's name (`release-if-owner`), or what a function says true to. */
export type Meant = string | ((command: Command) => boolean);

export function isMeant(meant: Meant, command: Command): boolean {
  if (typeof meant !== 'string') return meant(command);
  return meant === command.script || meant.toUpperCase() === command.name;
}

/** The command of these arguments, of which the first is its name. */
export function asCommand(received: Buffer[]): Command {
  const [first = '', ...args] = received.map(String);
  const name = first.toUpperCase();
  const script = scriptName(name, args[0]);
  return { name, args, ...(script !== undefined && { script }) };
}

const luaDir = new URL('../../lua/', import.meta.url);
const sha1 = (text: string | Buffer) => createHash('sha1').update(text).digest('hex');
const scriptNames = new Map(
  readdirSync(luaDir).map((file) => [sha1(readFileSync(new URL(file, luaDir))), basename(file, '.lua')]),
);

function scriptName(command: string, firstArg: string | undefined): string | undefined {
  if (firstArg === undefined || !command.startsWith('EVAL')) return undefined;
  return scriptNames.get(command.startsWith('EVALSHA') ? firstArg.toLowerCase() : sha1(firstArg));
}
