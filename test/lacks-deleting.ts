import { Redis } from 'ioredis';

/**
 * True when the server at `url` knows neither command by which delete-if-equal releases, as most servers that are installed. It is
 * sent both without a key, so that it has nothing to do.
 */
export async function lacksDeleting(url: string): Promise<boolean> {
  const redis = new Redis(url);
  const isUnknown = (command: string) =>
    redis.call(command).then(
      () => false,
      (error: Error) => error.message.startsWith('ERR unknown command'),
    );
  const found = await Promise.all(['DELIFEQ', 'DELEX'].map(isUnknown)).finally(() => redis.disconnect());
  return !found.includes(false);
}

/** What a Redis without them is refused with. */
export const lackOfDeleting =
  /^(Redis|Valkey) \d[\w.]* has neither DELIFEQ nor DELEX, and delete-if-equal needs one of them: use Valkey 9 or Redis 8\.4, or newer\.$/;
