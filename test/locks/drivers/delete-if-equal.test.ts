import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { deleteIfEqual, deletingCommands } from '../../../locks/drivers/delete-if-equal.ts';
import { ownRedis } from '../own-redis.ts';
import { watchClient } from '../watched-client.ts';

const { connect, key } = ownRedis({ isEmbedded: true });

/**
 * A client of a server that has these commands alone, which is the real one under other names: what it has is carried out by
 * DELIFEQ, and what it lacks is unknown to the server.
 */
function serverWith(...has: string[]) {
  const redis = connect();
  const sent: string[] = [];
  const client = new Proxy(redis, {
    get(target, name) {
      if (name !== 'call') return Reflect.get(target, name, target);
      return (command: string, ...args: string[]) => {
        sent.push([command, ...args].join(' '));
        if (!has.includes(command)) return target.call(`NO-${command}`, ...args);
        return target.call('DELIFEQ', args[0] ?? '', args.at(-1) ?? '');
      };
    },
  });
  return { redis, client, sent, has };
}

/** How the release ended, with what the key holds then. */
async function release(client: Redis, value: string) {
  const deleted = await deleteIfEqual(client, key(), value);
  return [deleted, await client.get(key())];
}

test('delete-if-equal: a key that holds the value is deleted, and no other', async () => {
  const redis = connect();
  await redis.set(key(), 'a');

  expect(await release(redis, 'b')).toEqual([0, 'a']);
  expect(await release(redis, 'a')).toEqual([1, null]);
  expect(await release(redis, 'a')).toEqual([0, null]);
});

test('delete-if-equal: it is one command', async () => {
  const watch = watchClient(connect());

  expect(await deleteIfEqual(watch.client, key(), 'a')).toBe(0);

  expect(watch.sent).toEqual(['delifeq']);
});

test('delete-if-equal: a server that has DELEX instead is asked for it from the second time on', async () => {
  const { client, sent } = serverWith('DELEX');
  await client.set(key(), 'a');

  expect(await release(client, 'b')).toEqual([0, 'a']);
  expect(await release(client, 'a')).toEqual([1, null]);

  const delex = (value: string) => `DELEX ${key()} IFEQ ${value}`;
  expect(sent).toEqual([`DELIFEQ ${key()} b`, delex('b'), delex('a')]);
});

test('delete-if-equal: what one server has says nothing of another', async () => {
  const one = serverWith('DELEX');
  const other = serverWith('DELIFEQ');

  await deleteIfEqual(one.client, key(), 'a');
  await deleteIfEqual(other.client, key(), 'a');

  expect(other.sent).toEqual([`DELIFEQ ${key()} a`]);
});

test('delete-if-equal: another server in the place of the first one is asked again', async () => {
  const { client, has } = serverWith('DELEX');
  await client.set(key(), 'a');
  expect(await release(client, 'b')).toEqual([0, 'a']);

  has.splice(0, 1, 'DELIFEQ');

  expect(await release(client, 'b')).toEqual([0, 'a']);
  expect(await release(client, 'a')).toEqual([1, null]);
});

test('delete-if-equal: a server that has neither deletes nothing, and its error is passed on', async () => {
  const { client, sent } = serverWith();
  await client.set(key(), 'a');

  await expect(deleteIfEqual(client, key(), 'a')).rejects.toThrow(/^ERR unknown command/);

  expect(await client.get(key())).toBe('a');
  expect(sent).toHaveLength(Object.keys(deletingCommands).length);
  await client.del(key());
});

test('delete-if-equal: any other error is passed on, and nothing is sent again', async () => {
  const watch = watchClient(connect());
  const noAnswer = new Error('Connection is closed.');
  watch.fail('delifeq', noAnswer);

  await expect(deleteIfEqual(watch.client, key(), 'a')).rejects.toBe(noAnswer);

  expect(watch.sent).toEqual(['delifeq']);
});
