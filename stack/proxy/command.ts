// Which command is meant: by its name, or by the script of ours that it runs.

import type { ReadCommand } from '../../simulation/scripts.ts';

export type Command = ReadCommand;

/** Which commands: a name (`DEL`), a script's name (`release-if-owner`), or what a function says true to. */
export type Meant = string | ((command: Command) => boolean);

export function isMeant(meant: Meant, command: Command): boolean {
  if (typeof meant !== 'string') return meant(command);
  return meant === command.script || meant.toUpperCase() === command.name;
}
