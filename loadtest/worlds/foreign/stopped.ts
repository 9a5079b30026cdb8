// Whether a copy stands still: it is asked for nothing, since nobody knows which requests of a service sell.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** True when every process of this group is stopped. */
export function isStopped(group: number): boolean {
  const own = (process.platform === 'linux' ? statesInProc() : statesOfPs()).filter(([id]) => id === group);
  return own.length > 0 && own.every(([, state]) => /^[TZ]/.test(state));
}

type GroupAndState = [group: number, state: string];

function statesInProc(): GroupAndState[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        // The name of the program, in brackets, may hold anything.
        const [state = '', , group] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
        return [[Number(group), state]];
      } catch {
        return [];
      }
    });
}

const statesOfPs = (): GroupAndState[] =>
  execFileSync('ps', ['-A', '-o', 'pgid=,state='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([group, state = '']) => [Number(group), state]);
