import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { connectRedis, redisOptions } from '../../../../services/inventory/servers/redis-client.ts';

const LIMIT_MS = 50;

/** A client of a server whose connections may be silent for LIMIT_MS, and that answers each command so. */
async function openClient(answer: (socket: Socket) => void) {
  const server = createServer((socket) => socket.on('data', () => answer(socket))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const options = { ...redisOptions, socketTimeout: LIMIT_MS, enableReadyCheck: false, disableClientInfo: true };
  const redis = connectRedis(`redis://127.0.0.1:${port}`, options).on('error', () => {});
  onTestFinished(() => {
    redis.disconnect();
    server.close();
  });
  await once(redis, 'ready');
  return redis;
}

test('a process that stood still reads what Redis answered meanwhile before it hangs up because of silence', async () => {
  const redis = await openClient((socket) => {
    socket.write('$1\r\n7\r\n');
    // The answer is there, unread, until the connection has been silent for too long.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * LIMIT_MS);
  });

  expect(await redis.get('stock')).toBe('7');
  expect(await redis.get('stock')).toBe('7');
});

test('a Redis that answers nothing is hung up on', async () => {
  let isSilent = false;
  const redis = await openClient((socket) => void (isSilent || socket.write('+OK\r\n')));
  isSilent = true;

  await expect(redis.get('stock')).rejects.toThrow();
});
