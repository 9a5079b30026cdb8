import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir, projectDir } from '../../../stack/parts.ts';
import { cleanUpLater } from '../../clean-up.ts';

/** A path in a folder of its own, at which there is no file. What is written there is gone when the file of tests has run. */
export function noModule(name: string): string {
  const temp = makeTempDir();
  cleanUpLater(temp.remove);
  return join(temp.dir, name);
}

/** Writes a module, and returns its path. */
export function writeModule(name: string, text: string): string {
  const file = noModule(name);
  writeFileSync(file, text);
  return file;
}

/** A lock as in the template, without its comments, with other functions instead of its own. */
export function lockWith(functions: { acquire?: string; release?: string }): string {
  const { acquire, release } = functions;
  return `
import { setTimeout as sleep } from 'node:timers/promises';
import { LockNotHeldError } from '${projectDir}locks/lock.ts';

const releaseIfOwner = \`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])\`;

export const createLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => ({
  async acquire(signal) {
    ${acquire ?? "while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') await sleep(retryDelayMs, undefined, { signal });"}
  },
  async release() {
    ${release ?? 'if ((await redis.eval(releaseIfOwner, 1, key, ownerToken)) === 0) throw new LockNotHeldError(key);'}
  },
});
`;
}
