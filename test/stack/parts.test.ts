import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { saleLifeMs } from '../../services/inventory/settings/limits.ts';
import { retryOnTakenPort, startPart } from '../../stack/parts.ts';
import { type Address, freePort } from '../../stack/ports.ts';
import { stopLimitOf } from '../../stack/stack.ts';
import { listen } from '../listen.ts';

test('part: one that ends at its start is an error with its last lines, and is asked nothing more', async () => {
  let questions = 0;
  const start = startPart({
    name: 'short-lived',
    command: 'sh',
    args: ['-c', 'echo cannot open the door >&2; exit 3'],
    async isReady() {
      questions += 1;
      return false;
    },
  });

  await expect(start).rejects.toThrow('short-lived ended with exit code 3\n  cannot open the door');

  const asked = questions;
  // Another one is asked several times meanwhile.
  let looks = 0;
  const other = await startPart({
    name: 'slow',
    command: 'sleep',
    args: ['60'],
    async isReady() {
      looks += 1;
      return looks > 3;
    },
  });
  await other.stop();
  expect(questions).toBe(asked);
});

test('part: a program that does not exist is an error', async () => {
  const start = startPart({ name: 'nobody', command: '/no/such/program', args: [], isReady: async () => true });
  await expect(start).rejects.toThrow('nobody could not be started: spawn /no/such/program ENOENT');
});

test('part: one that is paused ends by itself when it is stopped', async () => {
  const lines: string[] = [];
  const script = "process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1_000); console.log('ready')";
  const part = await startPart({
    name: 'paused',
    command: process.execPath,
    args: ['-e', script],
    isReady: async () => lines.includes('ready'),
    onLine: (line) => lines.push(line),
  });
  part.signal('SIGSTOP');

  await part.stop();

  expect(await part.ended).toMatch(/^paused ended with exit code 7/);
});

test('part: one that does not end by itself is killed after its limit', async () => {
  const lines: string[] = [];
  const part = await startPart({
    name: 'stubborn',
    command: process.execPath,
    args: ['-e', "process.on('SIGTERM', () => {}); setInterval(() => {}, 1_000); console.log('ready')"],
    stopLimitMs: 1,
    isReady: async () => lines.includes('ready'),
    onLine: (line) => lines.push(line),
  });

  await part.stop();

  expect(await part.ended).toMatch(/^stubborn was killed by SIGKILL/);
});

test('node: its limit follows WAIT_TIMEOUT_MS and DRAIN_MS, and is never shorter than a sale may live', () => {
  const longest = { WAIT_TIMEOUT_MS: '600000', DRAIN_MS: '60000' };

  expect(stopLimitOf(longest)).toBe(saleLifeMs(600_000) + 60_000 + 8_000);
  expect(stopLimitOf({ WAIT_TIMEOUT_MS: '', DRAIN_MS: '0' })).toBe(saleLifeMs(10_000) + 8_000);
  expect(stopLimitOf({ WAIT_TIMEOUT_MS: 'long' })).toBe(undefined);
});

describe('a part that ends at its start', () => {
  const start = (addresses: Address[]) => {
    let starts = 0;
    const part = {
      name: 'part',
      command: 'sh',
      args: ['-c', 'echo no luck; exit 1'],
      addresses,
      isReady: async () => false,
    };
    const ended = retryOnTakenPort(() => {
      starts += 1;
      return startPart(part);
    }).catch((error: Error) => error.message);
    return ended.then((message) => ({ message, starts }));
  };

  test('after five taken ports it is given up', async () => {
    const port = await listen(createServer());

    const message = `part could not be started: another program has taken port ${port}`;
    expect(await start([{ port }])).toEqual({ message, starts: 5 });
  });

  test('another reason is no reason to try again', async () => {
    expect(await start([{ port: await freePort() }])).toEqual({
      message: 'part ended with exit code 1\n  no luck',
      starts: 1,
    });
  });
});
