import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeTempDir } from '../../stack/parts.ts';
import { openRedis, refuseOldRedis } from '../../stack/redis.ts';
import { listen } from '../listen.ts';
import { ownCommands } from '../scripts/command-under-test.ts';

const start = ownCommands('scripts/start.ts');

/** A server that says it is this version, and knows nothing but INFO. */
async function startOld(version: string) {
  const info = `# Server\r\nredis_version:${version}\r\n`;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      for (const [, name = ''] of String(bytes).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
        const isInfo = name.toUpperCase() === 'INFO';
        socket.write(isInfo ? `$${info.length}\r\n${info}\r\n` : `-ERR unknown command '${name}'\r\n`);
      }
    });
  });
  return `redis://127.0.0.1:${await listen(server)}`;
}

/** A PATH whose redis-server says that it is this version. */
function pathWith(version: string) {
  const temp = makeTempDir();
  onTestFinished(temp.remove);
  writeFileSync(join(temp.dir, 'redis-server'), `#!/bin/sh\necho 'Redis server v=${version} sha=0'\n`, { mode: 0o755 });
  return [temp.dir, process.env['PATH']].join(delimiter);
}

test('redis: a given one that is too old is refused in one sentence, by npm start as well', async () => {
  const env = { REDIS_URL: await startOld('5.0.14') };
  const sentence = 'the Redis at REDIS_URL is version 5.0.14, but the lab needs Redis 6.2 or newer, or Valkey';

  await expect(openRedis(env.REDIS_URL, { dir: '/nowhere' })).rejects.toThrow(sentence);
  const command = start('scripts/start.ts', [], env);
  expect((await command.ended).code).toBe(2);
  expect(command.stderr()).toContain(sentence);
});

test('redis: one on the PATH that is too old is refused in one sentence', async () => {
  vi.stubEnv('PATH', pathWith('6.0.16'));
  onTestFinished(() => void vi.unstubAllEnvs());

  await expect(openRedis(undefined, { dir: '/nowhere' })).rejects.toThrow(
    /redis-server is version 6\.0\.16, but the lab needs Redis 6\.2 or newer, or Valkey$/,
  );
});

test.each(['6.2', '6.2.0', '6.2.14', '7.2.4', '10.0.0', undefined])('redis: version %s is new enough', (version) => {
  expect(() => refuseOldRedis('it', version)).not.toThrow();
});
