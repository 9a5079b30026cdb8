// How a listener stops without losing a request that is on its way to it.

import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { IDLE_LIMIT_MS } from './sale-life.ts';

/** In how many turns of the event loop it looks for one without a new connection. */
const MOST_TURNS = 1_000;

/**
 * Accepts for `acceptMs`, so that a load balancer that asks whether the node is ready has noticed. Then the listener closes, by which nginx
 * notices: it sends what it cannot connect for to the other node. Requests on open connections are served; `endConnections` has
 * each answer end its connection, and idle ones are left to the other side to close. Resolves when none is open, or after 3 s.
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

/** Each turn accepts a connection if one waits. One that still waits when the listener closes would be reset. */
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
