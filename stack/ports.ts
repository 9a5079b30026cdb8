// Finds free ports on loopback, below the range of ephemeral ports.

import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

const FIRST_PORT = 20_000;
const BLOCK_SIZE = 200;
const BLOCKS = 60;

/** This process listens on the first port of its block, so that no other process hands out the rest of it. */
let block: Promise<number> | undefined;
let lastPlace = Math.floor(Math.random() * BLOCK_SIZE);

/** Where a program listens: on 127.0.0.1 unless it says otherwise. */
export interface Address {
  host?: string | undefined;
  port: number;
}

/**
 * Resolves with a port that is free now on `host`. One that has been handed out comes again only
 * when all others of the block have.
 */
export async function freePort(host?: string): Promise<number> {
  block ??= claimBlock();
  const first = await block;
  for (let looks = 1; looks < BLOCK_SIZE; looks += 1) {
    lastPlace = (lastPlace % (BLOCK_SIZE - 1)) + 1;
    const port = first + lastPlace;
    if (await isFree({ host, port })) return port;
  }
  throw new Error(`Every port from ${first} to ${first + BLOCK_SIZE - 1} is in use.`);
}

/** An address in the form that precedes a port in a URL. */
export const inUrl = (host: string) => (host.includes(':') ? `[${host}]` : host);

/** The address at which this machine reaches a program that listens on `host`. */
export const reachedAt = (host: string) => inUrl({ '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host);

/**
 * Resolves with false when a program listens there. An address that this machine does not have
 * counts as free: the program that is to listen there says what is wrong.
 */
export async function isFree(address: Address): Promise<boolean> {
  const server = await listen(address).catch((error: NodeJS.ErrnoException) => error.code !== 'EADDRINUSE');
  if (typeof server === 'boolean') return server;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

async function claimBlock(): Promise<number> {
  const start = Math.floor(Math.random() * BLOCKS);
  for (let turn = 0; turn < BLOCKS; turn += 1) {
    const first = FIRST_PORT + ((start + turn) % BLOCKS) * BLOCK_SIZE;
    const guard = await listen({ port: first }).catch(() => undefined);
    if (guard === undefined) continue;
    guard.on('connection', (socket) => socket.destroy());
    // It ends with the process, and does not keep it.
    guard.unref();
    return first;
  }
  throw new Error(`No block of ports is free from ${FIRST_PORT} on: too many runs are active on this machine.`);
}

async function listen({ host = '127.0.0.1', port }: Address): Promise<Server> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  return server;
}
