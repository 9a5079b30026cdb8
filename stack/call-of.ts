// The command line of a command: an npm script in a clone, or the installed package's command.

import { isInstalled } from './kept-bundle.mjs';

/** What one types to run a command of this name with these arguments. */
export function callOf(name: string, args = ''): string {
  if (isInstalled) return `lockstep ${name}${args && ` ${args}`}`;
  return `npm ${name === 'start' ? '' : 'run '}${name}${args && ` -- ${args}`}`;
}
