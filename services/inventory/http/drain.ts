// How a listener stops without losing requests that are on their way.

import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { IDLE_LIMIT_MS } from '../settings/limits.ts';

/** How many turns of the event loop without a new connection it waits for. */
const MOST_TURNS = 1_000;

/**
 * Keeps accepting for `acceptMs`, so that a load balancer notices. Then the listener closes, and nginx sends
 * what it cannot connect for to the other node. Requests on open connections are served until none is open,
 * or for 3 s; `endConnections` has answers end them, and idle ones are left to the other side to close.
 */
export async function drain(server: Server, acceptMs: number, endConnections: () => void): Promise<void> {
  await sleep(acceptMs);
  await untilNobodyConnects(server);
  const closed = once(server, 'close');
  // Not close() of HTTP, which ends idle connections: a request may be on its way on one.
  NetServer.prototype.close.call(server);
  endConnections();
  await Promise.race([closed, sleep(IDLE_LIMIT_MS)]);
}

/** Each turn accepts a waiting connection. A connection that still waits when the listener closes would be reset. */
async function untilNobodyConnects(server: Server) {
  let hasConnected = true;
  const note = () => {
    hasConnected = true;
  };
  server.on('connection', note);
  for (let turn = 0; hasConnected && turn < MOST_TURNS; turn += 1) {
    hasConnected = false;
    await nextTurn();
  }
  server.off('connection', note);
}
