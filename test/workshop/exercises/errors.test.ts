import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { projectDir } from '../../../stack/parts.ts';
import { searchIn } from '../../prove/own-locks.ts';

// As deep in the project as the files of attendees, so that the imports lead to the same files.
mkdirSync(join(projectDir, 'reports'), { recursive: true });
const folder = mkdtempSync(join(projectDir, 'reports/errors-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** A lock that is right but for what stands at the beginning of acquire(), which is line 6. */
const lockWith = ({ acquire = '' }) => `import { setTimeout as sleep } from 'node:timers/promises';
import { type CreateLock, LockNotHeldError } from '../../locks/lock.ts';

export const createLock: CreateLock = ({ redis, key, ownerToken, leaseMs, retryDelayMs }) => {
  async function acquire(signal?: AbortSignal) {
    ${acquire}
    while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK')
      await sleep(retryDelayMs, undefined, { signal });
  }
  async function release() {
    if ((await redis.get(key)) !== ownerToken) throw new LockNotHeldError(key);
    await redis.del(key);
  }
  return { acquire, release };
};
`;

/** What the search says of the file, in this process. */
const reasonOf = async (file: string) => (await searchIn(file, 'plain')).reason;

describe('workshop: an error while the file runs is told with its line', () => {
  test.each([
    ['TypeError', 'await (redis as any).sett(key);', 'A fails: redis.sett is not a function'],
    ['ReferenceError-after-a-pause', 'await sleep(1); await redis.del(kye as never);', 'A fails: kye is not defined'],
  ])('%s', async (name, acquire, says) => {
    const reason = await reasonOf(write(`${name}.ts`, lockWith({ acquire })));

    expect(reason.startsWith(says), reason).toBe(true);
    expect(reason).toMatch(/ \(reports\/errors-\w+\/[\w-]+\.ts:6\)$/);
  });

  test('one that nobody catches', async () => {
    const reason = await reasonOf(
      write('uncaught.ts', lockWith({ acquire: 'void (async () => (undefined as any).lock())();' })),
    );

    expect(reason).toMatch(/^A dies of an unhandled error: Cannot read .*\/uncaught\.ts:6\)$/);
  });

  test('one that is thrown while the file is loaded', async () => {
    const file = write('loads.ts', 'const times = 3;\ntimes.foo.bar();\nexport const createLock = times;\n');

    await expect(reasonOf(file)).rejects.toThrow(
      /^Cannot read properties of undefined \(reading 'bar'\) \(\S*loads\.ts:2\)$/,
    );
  });

  test('in what the file imports from its own folder; elsewhere the line of the file that called', async () => {
    write('more.ts', '\nexport const fail = () => (null as any).x;\n');
    const own = write('own.ts', `import { fail } from './more.ts';\n${lockWith({ acquire: 'fail();' })}`);
    const read = "import { readScript } from '../../locks/drivers/script.ts';\n";
    const acquire = "await readScript('renew-if-owner')(redis, null as never, []);";
    const calling = write('calling.ts', `${read}${lockWith({ acquire })}`);

    expect(await reasonOf(own)).toMatch(/\(reports\/\S+\/more\.ts:2\)$/);
    expect(await reasonOf(calling)).toMatch(/\(reports\/\S+\/calling\.ts:7\)$/);
  });
});
