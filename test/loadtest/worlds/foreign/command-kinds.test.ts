import { describe, expect, test } from 'vitest';
import {
  fieldOf,
  isPlain,
  keysOf,
  kindOf,
  leaseIn,
  names,
  stockIn,
  stockKindsOf,
  stocksAmong,
  toldCommand,
} from '../../../../loadtest/worlds/foreign/command-kinds.ts';
import { asRead, sha1Of } from '../../../../simulation/scripts.ts';

/** A command as it is typed; `_` stands for a space inside a word. */
const command = (line: string) => asRead(line.split(' ').map((word) => word.replaceAll('_', ' ')));
const commands = (...lines: string[]) => lines.map(command);
const TAKE = "return_redis.call('decr',KEYS[1])";
const TAKE_SHA = sha1Of(TAKE.replaceAll('_', ' '));
const take = `script ${TAKE_SHA.slice(0, 8)}`;

test.each([
  ['GET stock', ['stock']],
  ['SET stock 9 PX 400', ['stock']],
  ['MSET a 1 b 2', ['a', 'b']],
  ['MSETNX a 1 b 2', ['a', 'b']],
  ['DEL a b', ['a', 'b']],
  ['WATCH a b', ['a', 'b']],
  [`EVAL ${TAKE} 2 a b stock`, ['a', 'b']],
  [`EVALSHA ${TAKE_SHA} 1 a b`, ['a']],
  [`EVALSHA_RO ${TAKE_SHA} 0`, []],
  ['FCALL take 1 stock 1', ['stock']],
  ['SELECT 3', []],
  ['PUBLISH freed lock', []],
  ['MULTI', []],
])('%s names the keys %j', (line, keys) => {
  expect(keysOf(command(line))).toEqual(keys);
});

describe('a command that names the stock', () => {
  test.each([
    'GET stock',
    'DEL other stock',
    `EVAL ${TAKE} 1 stock`,
    // It is no key of theirs by their count, and theirs all the same.
    `EVALSHA ${TAKE_SHA} 1 lock stock`,
    "EVAL return_redis.call('get','stock') 0",
    'EVAL return_redis.call("get","stock") 0',
  ])('%s', (line) => {
    expect(names(command(line), { stock: 'stock' })).toBe(true);
  });

  test.each([
    'GET lock:stock',
    'SET lock stock NX',
    'GET stock:version',
    'PING stock',
    "EVAL return_redis.call('get','lock:stock') 0",
  ])('not %s', (line) => {
    expect(names(command(line), { stock: 'stock' })).toBe(false);
  });
});

test('an EVAL and its EVALSHA are one kind, and each other script is another', () => {
  expect(kindOf(command(`EVAL ${TAKE} 1 stock`))).toBe(take);
  expect(kindOf(command(`evalsha ${TAKE_SHA.toUpperCase()} 1 stock`))).toBe(take);
  expect(kindOf(command('EVAL return_1 0'))).not.toBe(take);
  expect(kindOf(command('FCALL take 1 stock'))).toBe('function take');
  expect(kindOf(command('hget item qty'))).toBe('HGET');
  expect(toldCommand(command(`EVAL ${TAKE} 1 stock 5`))).toBe(`${take} stock 5`);
  expect(toldCommand(command(`SET stock ${'9'.repeat(200)}`))).toHaveLength(90);
});

test.each([
  ['SET lock me NX PX 400', 400],
  ['SET lock me ex 3 nx', 3_000],
  ['SET lock me NX', undefined],
  // It is the value, and asks for nothing.
  ['SETNX lock PX', undefined],
  ['PSETEX lock 400 me', 400],
  ['SETEX lock 3 me', 3_000],
  ['EXPIRE lock 10', 10_000],
  ['PEXPIRE lock 400 NX', 400],
  ['GET lock', undefined],
])('%s asks for a lease of %s ms', (line, ms) => {
  expect(leaseIn(command(line))).toBe(ms);
});

test.each([
  ['SET stock 9', 9],
  ['GETSET stock 9', 9],
  ['SETEX stock 60 9', 9],
  ['HSET item qty 9', 9],
  ['SET stock nine', undefined],
  ['DECR stock', undefined],
  [`EVAL ${TAKE} 1 stock 9`, undefined],
])('%s says that the stock is %s', (line, stock) => {
  expect(stockIn(command(line))).toBe(stock);
});

test('a write that is taken whatever has happened since its sale read', () => {
  expect(['SET', 'HSET', 'GETSET'].every(isPlain)).toBe(true);
  expect(['DECR', 'HINCRBY', take].some(isPlain)).toBe(false);
});

const lock = ['SET lock me NX PX 400'];
const release = ['EVAL release 1 lock me'];

test.each<[what: string, lines: string[], read: string | undefined, write: string]>([
  ['read, then written', [...lock, 'GET stock', 'SET stock 9', ...release], 'GET', 'SET'],
  ['read twice', [...lock, 'GET stock', 'GET stock', 'SET stock 9'], 'GET', 'SET'],
  ['in a hash', ['HGET stock qty', 'HSET stock qty 9'], 'HGET', 'HSET'],
  ['of several keys', ['MGET price stock', 'SET stock 9'], 'MGET', 'SET'],
  ['watched', ['WATCH stock', 'GET stock', 'MULTI', 'SET stock 9', 'EXEC'], 'GET', 'SET'],
  ['looked at, then read and written', ['EXISTS stock', 'GET stock', 'SET stock 9', 'EXPIRE stock 60'], 'GET', 'SET'],
  ['compared and written by a script', ['GET stock', `EVAL ${TAKE} 1 stock 10`], 'GET', take],
  ['written by one command', ['DECR stock'], undefined, 'DECR'],
  ['written by one script', [`EVALSHA ${TAKE_SHA} 1 stock`], undefined, take],
])('a stock that is %s', (_what, lines, read, write) => {
  expect(stockKindsOf(commands(...lines), { stock: 'stock' })).toEqual({ read, write });
});

test('a stock that no command wrote', () => {
  expect(
    stockKindsOf(commands(...lock, 'GET stock', 'EXPIRE stock 60', 'SET stocks 9'), { stock: 'stock' }),
  ).toBeUndefined();
});

test('what may be the stock: what is read, or taken from in one step; the field, where one is named', () => {
  const sale = commands(...lock, 'GET stock', 'HGET item qty', 'DECR left', 'GET stock', ...release);

  expect(stocksAmong(sale)).toEqual(['stock', 'item', 'left']);
  // A key that is claimed, or deleted, is a lock, although it is read.
  expect(stocksAmong(commands(...lock, 'GET stock', 'GET lock', 'DEL lock'))).toEqual(['stock']);
  expect(stocksAmong(commands('SETNX lock me', 'GET lock', 'SET stock 9'))).toEqual([]);
  expect(stocksAmong(commands(...lock, `EVALSHA ${TAKE_SHA} 1 stock`, ...release))).toEqual(['stock']);
  expect(fieldOf(sale, 'item')).toBe('qty');
  expect(fieldOf(sale, 'stock')).toBeUndefined();
  expect(fieldOf(commands('HINCRBY item qty -1'), 'item')).toBe('qty');
  expect(fieldOf(commands('HMGET item qty version'), 'item')).toBe('qty');
  expect(fieldOf(commands('HGETALL item'), 'item')).toBeUndefined();
});
