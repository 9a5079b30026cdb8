import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { projectDir } from '../../scripts/parts.ts';

const dir = mkdtempSync(join(tmpdir(), 'modules-under-test-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Writes a module, and resolves its path. */
export function writeModule(name: string, text: string): string {
  const file = join(dir, name);
  writeFileSync(file, text);
  return file;
}

/** A path in the same folder, at which there is no file. */
export const noModule = (name: string) => join(dir, name);

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
