// Matches commands by name, or by the script of ours that they run.

import type { ReadCommand } from '../../simulation/scripts.ts';

export interface Command extends ReadCommand {
  /** The number of its connection through the proxy, from 1; connections to MySQL are numbered separately. */
  connection?: number;
  /** True for MySQL: its argument is the statement, if any. */
  isSql?: true;
}

/** Selects commands: a name (`DEL`), a script's name (`release-if-owner`), or a predicate. */
export type Meant = string | ((command: Command) => boolean);

export function isMeant(meant: Meant, command: Command): boolean {
  if (typeof meant !== 'string') return meant(command);
  return meant === command.script || meant.toUpperCase() === command.name;
}
