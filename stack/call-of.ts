// How a command is called: in a clone it is an npm script, and where the lab is installed it is the package's.

import { isInstalled } from './kept-bundle.mjs';

/** What one types to run a command of this name with these arguments. */
export function callOf(name: string, args = ''): string {
  if (isInstalled) return `lockstep ${name}${args && ` ${args}`}`;
  return `npm ${name === 'start' ? '' : 'run '}${name}${args && ` -- ${args}`}`;
}
