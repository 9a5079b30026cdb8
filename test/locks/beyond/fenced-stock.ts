import { type RunScript, readScript } from '../../../locks/drivers/script.ts';
import type { FencedStock, RedisClient } from '../../../locks/lock.ts';

const readIfNewest: RunScript<string | null | -1> = readScript('read-if-newest');
const writeIfNewest = readScript('write-if-newest');

export const STALE = 'STALE_TOKEN';

/** The stock under a key as a service gives it to a sale: fenced. `asked` is given what it is asked. */
export function fencedStock(redis: RedisClient, key: string, lock: string, asked: string[] = []): FencedStock {
  const keys = [key, 'fence'];
  return {
    async read(token = '0') {
      asked.push(`read ${key} with ${token}`);
      const answer = await readIfNewest(redis, keys, [lock, token]);
      if (answer === -1) throw new Error(STALE);
      return answer === null ? undefined : Number(answer);
    },
    async write(units, token = '0') {
      asked.push(`write ${key} ${units} with ${token}`);
      if ((await writeIfNewest(redis, keys, [units, lock, token])) === 0) throw new Error(STALE);
    },
  };
}
