import { expect, test } from 'vitest';
import { createLock as fenced } from '../../../locks/beyond/fenced.ts';
import { createLock } from '../../../locks/beyond/fenced-writes.ts';
import { readScript } from '../../../locks/drivers/script.ts';
import { readText } from '../../lesson/project-files.ts';
import { lockOptions, notHeld } from '../lock-options.ts';
import { ownRedis } from '../own-redis.ts';

const { connect, key } = ownRedis();
const writeIfNewest = readScript('write-if-newest');
const keys = () => [key(), `${key()}:tokens`, `${key()}:stock`, `${key()}:fence`];

/** Writes the stock with the holder's token, and resolves with 1, or with 0 when it is refused. */
const write = (stock: number, { fencingToken = '0' }: { fencingToken?: string | undefined }) =>
  writeIfNewest(connect(), [`${key()}:stock`, `${key()}:fence`], [stock, 'fenced-writes', fencingToken]);

/** The code without its comments. */
const codeOf = (file: string) => readText(file).replace(/^ *\/\/.*\n/gm, '');

test('fenced-writes: the late write is taken between the read and the write of the next holder, which undoes it', async () => {
  const redis = connect();
  const paused = createLock(lockOptions({ redis, key: key() }));
  const next = createLock(lockOptions({ redis: connect(), key: key() }));
  await redis.set(`${key()}:stock`, 100);
  await paused.acquire();
  await redis.del(key());
  await next.acquire();
  const readByBoth = Number(await redis.get(`${key()}:stock`));

  expect(await write(readByBoth - 1, paused)).toBe(1);
  expect(await write(readByBoth - 1, next)).toBe(1);

  expect(await redis.get(`${key()}:stock`)).toBe('99');
  await expect(paused.release()).rejects.toMatchObject(notHeld);
  await next.release();
  await redis.del(keys());
});

test('fenced-writes: is fenced, but for what its read shows', () => {
  const lines = codeOf('locks/beyond/fenced-writes.ts').split('\n');
  const own = lines.filter((line) => !codeOf('locks/beyond/fenced.ts').split('\n').includes(line));

  expect(own).toEqual(['    hasUnfencedReads: true,']);
  expect(lines.length).toBe(codeOf('locks/beyond/fenced.ts').split('\n').length + 1);
  const options = lockOptions({ redis: connect(), key: key() });
  expect([createLock(options).hasUnfencedReads, fenced(options).hasUnfencedReads]).toEqual([true, undefined]);
});
