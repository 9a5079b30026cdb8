// Matches commands: by name, or by the Lua script of ours that they run.

import type { ReadCommand } from '../../simulation/scripts.ts';

export interface Command extends ReadCommand {
  /** Which connection of its link it came on: the first is 1, and one to MySQL has a number of its own. */
  connection?: number;
  /** It is for MySQL: its argument is the statement, if it has one. */
  isSql?: true;
}

/** A matcher of commands: a name (`DEL`), a script's name (`release-if-owner`), or a function. */
export type Meant = string | ((command: Command) => boolean);

export function isMeant(meant: Meant, command: Command): boolean {
  if (typeof meant !== 'string') return meant(command);
  return meant === command.script || meant.toUpperCase() === command.name;
}
