// The command line of a command: an npm script in a clone, or the installed package's command.

import { isInstalled } from './kept-bundle.mjs';

/** The command line for a command with these arguments. */
export function callOf(name: string, args = ''): string {
  if (isInstalled) return `lockstep ${name}${args && ` ${args}`}`;
  return `npm ${name === 'start' ? '' : 'run '}${name}${args && ` -- ${args}`}`;
}
