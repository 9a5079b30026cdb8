// The clock and the network of this machine, for real servers.

import { request as requestHttp } from 'node:http';
import { connect as openSocket } from 'node:net';
import { setTimeout as sleepReally } from 'node:timers/promises';
import autocannon from 'autocannon';
import { connectRedis } from '../../../services/inventory/servers/redis-client.ts';
import { openLink } from '../../../stack/proxy/link.ts';
import { loadScripts, untilCopied } from '../../../stack/redis.ts';
import type { Clock } from '../../harness/clock.ts';
import type { LoadRequest, Network, RunningLoad } from '../../harness/network.ts';

export const machineClock: Clock = {
  now: () => Number(process.hrtime.bigint()) / 1e6,
  wallTime: Date.now,
  sleep: sleepReally,
  startTimer: setTimeout,
  stopTimer: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};

export const machineNetwork: Network = {
  lookMs: 20,
  request: ({ method, url, json, requestId, user, signal }) =>
    new Promise((resolve, reject) => {
      const headers = {
        ...(json !== undefined && { 'Content-Type': 'application/json' }),
        ...(requestId !== undefined && { 'X-Request-Id': requestId }),
        ...(user !== undefined && { 'X-User-Id': user }),
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
  openLine: openLink,
  probe(port, hear) {
    const socket = openSocket(port, '127.0.0.1', () => socket.write('*1\r\n$4\r\nPING\r\n'));
    for (const what of ['data', 'end', 'error'] as const) socket.on(what, () => hear(what));
    return { close: () => void socket.destroy() };
  },
};

/** Starts a load: each connection sends one request after the other. */
function startLoad(load: LoadRequest): RunningLoad {
  const { url, method, json, requests, connections, requestLimitMs, onSend, onAnswer } = load;
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
    method,
    ...(json !== undefined && { body: json, headers: { 'Content-Type': 'application/json' } }),
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
