// Whether a copy is paused, without sending it a request, because any request might be a sale.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const MOST_BYTES = 2 ** 26;
/** What shows the state and the group of each process. The name of a program, in brackets, may hold anything. */
const [command, form] =
  process.platform === 'linux'
    ? (['cat /proc/[0-9]*/stat', /\) (\w) \d+ (\d+) /g] as const)
    : (['ps -A -o state=,pgid=', /^ *(\w)\S* +(\d+)/gm] as const);

/** True when every process of this group is stopped. */
export async function isStopped(group: number): Promise<boolean> {
  // One that ends meanwhile says nothing, and is no failure.
  const { stdout } = await promisify(execFile)('sh', ['-c', `${command}; true`], { maxBuffer: MOST_BYTES });
  const own = [...stdout.matchAll(form)].filter(([, , id]) => Number(id) === group);
  return own.length > 0 && own.every(([, state]) => state === 'T' || state === 'Z');
}
