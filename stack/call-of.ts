// How to call a command: as an npm script in a clone, through the package's binary where it is installed.

import { isInstalled } from './kept-bundle.mjs';

/** What to type to run the command with these arguments. */
export function callOf(name: string, args = ''): string {
  if (isInstalled) return `lockstep ${name}${args && ` ${args}`}`;
  return `npm ${name === 'start' ? '' : 'run '}${name}${args && ` -- ${args}`}`;
}
