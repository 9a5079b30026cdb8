import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { connectRedis } from '../../../../services/inventory/servers/redis-client.ts';
import { readRedisUrl } from '../../../../services/inventory/settings/server-url.ts';

describe('REDIS_URL', () => {
  const at = (host: string, port: number) => ({ host, port });

  test.each([
    ['redis://u:p@h:1/2', { form: 'server', url: 'redis://u:p@h:1/2' }],
    [
      'rediss+cluster://u:p%40:x@a:1,[::1]:2',
      { form: 'cluster', nodes: [at('a', 1), at('::1', 2)], access: { username: 'u', password: 'p@:x', tls: {} } },
    ],
    [
      'redis+sentinel://:p@a,b:2/my-shop.eu/3',
      {
        form: 'sentinel',
        sentinels: [at('a', 26379), at('b', 2)],
        name: 'my-shop.eu',
        db: 3,
        access: { password: 'p' },
      },
    ],
    ['redis+sentinel://a/shop', { form: 'sentinel', sentinels: [at('a', 26379)], name: 'shop', db: 0, access: {} }],
  ])('%s', (url, place) => {
    expect(readRedisUrl(url)).toEqual(place);
  });

  test.each(['redis+cluster://', 'redis+cluster://a:1/2', 'redis+sentinel://a:1', 'redis+other://a:1'])(
    '%s is refused',
    (url) => {
      expect(readRedisUrl(url)).toBeUndefined();
    },
  );

  test('Sentinels are asked for the master without its password, and with TLS where it is asked for', () => {
    const redis = connectRedis('rediss+sentinel://u:p@a:1/shop/3', { lazyConnect: true });

    expect(redis).toBeInstanceOf(Redis);
    const access = { username: 'u', password: 'p', tls: {} };
    expect(redis.options).toMatchObject({ name: 'shop', db: 3, ...access, sentinelTLS: {} });
    expect((redis as Redis).options.sentinelPassword ?? undefined).toBeUndefined();
  });
});
