// The network of a target: whatever reaches a server goes through it. That of the machine is one; the simulated world has another.

import { request as requestHttp } from 'node:http';
import { connect as openSocket } from 'node:net';
import autocannon from 'autocannon';
import type { RedisOptions } from 'ioredis';
import type { RedisClient } from '../../locks/lock.ts';
import { connectRedis } from '../../services/inventory/servers/redis-client.ts';
import { type Link, openLink } from '../../stack/proxy/link.ts';
import { loadScripts, untilCopied } from '../../stack/redis.ts';

export interface HttpRequest {
  method: 'GET' | 'POST';
  url: URL;
  /** The body, if there is one. */
  json?: string | undefined;
  /** Under which the node records it: no other request has it at the same time. */
  requestId?: string | undefined;
  /** The client hangs up when it aborts. */
  signal: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  body: string;
}

/** Something by which a connection is seen to lead somewhere. */
export type Heard = 'data' | 'end' | 'error';

export interface Network {
  /** How often Redis is asked what it holds, in milliseconds. */
  lookMs: number;
  /** Sends a request on a connection of its own. Rejects when that breaks, or the signal aborts, before the answer is there. */
  request(request: HttpRequest): Promise<HttpAnswer>;
  /** Sends a load of sales. */
  startLoad(load: LoadRequest): RunningLoad;
  /** Connects to a Redis, or to a Cluster. */
  connectRedis(url: string, options: RedisOptions): RedisClient;
  /** Resolves when the Redis knows the scripts of `lua/`. */
  loadScripts(redisUrl: string): Promise<void>;
  /** Resolves when a replica has copied what its Redis holds. */
  untilCopied(servers: { primaryUrl: string; replicaUrl: string }): Promise<void>;
  /** Opens a line to a Redis that can be cut. */
  openLink(redisUrl: string): Promise<Link>;
  /** Asks a Redis whether it is there, by the port of the link before it. `hear` is called each time something comes of it. */
  probe(port: number, hear: (what: Heard) => void): { close(): void };
}

export const machineNetwork: Network = {
  lookMs: 20,
  request: ({ method, url, json, requestId, signal }) =>
    new Promise((resolve, reject) => {
      const headers = {
        ...(json !== undefined && { 'Content-Type': 'application/json' }),
        ...(requestId !== undefined && { 'X-Request-Id': requestId }),
      };
      const outgoing = requestHttp(url, { method, agent: false, signal, headers }, (answer) => {
        let body = '';
        answer.setEncoding('utf8').on('data', (chunk) => {
          body += chunk;
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
        answer.on('error', reject);
      });
      outgoing.on('error', reject).end(json);
    }),
  startLoad,
  connectRedis,
  loadScripts,
  untilCopied,
  openLink,
  probe(port, hear) {
    const socket = openSocket(port, '127.0.0.1', () => socket.write('*1\r\n$4\r\nPING\r\n'));
    for (const what of ['data', 'end', 'error'] as const) socket.on(what, () => hear(what));
    return { close: () => void socket.destroy() };
  },
};

export interface LoadRequest {
  url: string;
  requests: number;
  connections: number;
  /** How long a request may take, in milliseconds; longer than a sale may wait for its lock. */
  requestLimitMs: number;
  /** Called right before each request is sent. Returns what `onAnswer` is given with its answer. */
  onSend(): { sentAt: number };
  onAnswer(status: number, body: string, sent: { sentAt: number }): void;
}

export interface RunningLoad {
  /** Resolves when it is over, with how many requests timed out or lost their connection. */
  ended: Promise<{ errors: number }>;
  /** Sends no more. */
  stop(): void;
}

/** Starts a load of POST requests: each connection sends one after the other. */
function startLoad(load: LoadRequest): RunningLoad {
  const { url, requests, connections, requestLimitMs, onSend, onAnswer } = load;
  // The client builds a request right before it sends it, and has one request under way at a time.
  const request: autocannon.Request = {
    setupRequest(request, context: { sent?: { sentAt: number } }) {
      context.sent = onSend();
      return request;
    },
    onResponse(status, body, context: { sent?: { sentAt: number } }) {
      if (context.sent) onAnswer(status, body, context.sent);
    },
  };
  const options = {
    url,
    method: 'POST',
    amount: requests,
    connections,
    timeout: requestLimitMs / 1000,
    // When every connection has failed once, the rest would fail too.
    bailout: connections,
    requests: [request],
    // The run ends at the next sample, so a short one wastes no time. The types do not know it.
    sampleInt: 50,
  } as autocannon.Options;
  let instance: autocannon.Instance | undefined;
  const ended = new Promise<{ errors: number }>((resolve, reject) => {
    instance = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
  });
  return { ended, stop: () => instance?.stop() };
}
