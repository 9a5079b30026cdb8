// The network between the harness and the simulated nodes.

import { setMaxListeners } from 'node:events';
import type { Lab } from '../../../simulation/lab.ts';
import type { VirtualServer } from '../../../simulation/server.ts';
import type { HttpAnswer, HttpRequest, LoadRequest, Network, ReplicaLine, RunningLoad } from '../../harness/network.ts';
import type { Harness } from './driver.ts';
import { createHarnessClient } from './redis-client.ts';

/** The address of the load balancer, which sends each sale to the next node. */
export const BALANCER_URL = 'http://nginx';
const SKU = '001';
/** How long it takes to hear that there is nobody, in milliseconds. */
const REFUSED_MS = 1;
/** How long a probe takes to a server, in milliseconds, and the answer back. */
const PROBE_MS = 0.4;

export interface NetworkOptions {
  lab: Lab;
  harness: Harness;
  /** The server at an address. */
  serverAt(url: string): VirtualServer;
  /** The proxy that listens on a port. */
  proxyAt(port: number): Lab['proxies'][number][number] | undefined;
  /** Opens a line to Redis, for a replica. */
  openLine(): ReplicaLine;
}

export function networkOf({ lab, harness, serverAt, proxyAt, openLine }: NetworkOptions): Network {
  let balanced = 0;

  /** The number of the node at an address; -1 when there is none. */
  function nodeAt({ hostname }: URL): number {
    if (hostname === new URL(BALANCER_URL).hostname) return balanced++ % 2;
    return [0, 1].findIndex((index) => lab.node(index).name === hostname);
  }

  function request({ method, url, json, requestId, user, signal }: HttpRequest): Promise<HttpAnswer> {
    const index = nodeAt(url);
    return new Promise((resolve, reject) => {
      // Who asks again and again must not do so at one moment for ever.
      if (index < 0) return harness.after(REFUSED_MS, () => reject(new Error(`${url.host} does not respond.`)));
      const sent = lab.request(
        index,
        async (service, client) => {
          if (method === 'GET') return remaining(await service.readStock(SKU, client));
          const { skus = [SKU] } = JSON.parse(json ?? '{}') as { skus?: string[] };
          const limits = Object.fromEntries([...url.searchParams].map(([name, digits]) => [name, Number(digits)]));
          return service.sell(skus, client, undefined, service.askedOf(limits, user));
        },
        (answer) =>
          harness.take(() => {
            signal.removeEventListener('abort', sent.hangUp);
            if (answer) resolve(answer);
            else reject(new Error('The connection broke.'));
          }),
        requestId,
      );
      signal.addEventListener('abort', sent.hangUp);
    });
  }

  /** Each buyer asks again when it is answered, until as many have asked as there are requests. */
  function startLoad({ url, requests, connections, onSend, onAnswer }: LoadRequest): RunningLoad {
    const stopped = new AbortController();
    // One for each request under way.
    setMaxListeners(0, stopped.signal);
    let left = requests;
    let errors = 0;
    async function buy() {
      while (left > 0 && !stopped.signal.aborted) {
        left -= 1;
        const sent = onSend();
        const asked = request({ method: 'POST', url: new URL(url), signal: stopped.signal });
        const answer = await asked.catch(() => undefined);
        if (answer) onAnswer(answer.status, answer.body, sent);
        else errors += 1;
      }
    }
    const ended = Promise.all(Array.from({ length: connections }, buy)).then(() => ({ errors }));
    return { ended, stop: () => stopped.abort() };
  }

  return {
    // A third of all commands would be such looks, and here nothing stands still between two of them.
    lookMs: 100,
    request,
    startLoad,
    connectRedis: (url, { commandTimeout }) => createHarnessClient(harness, () => serverAt(url), commandTimeout),
    // Each server knows them from its start, and a replica has copied all when it is asked.
    async loadScripts() {},
    async untilCopied() {},
    openLine: async () => openLine(),
    probe(port, hear) {
      const proxy = proxyAt(port);
      proxy?.pass(() =>
        proxy.server().receive(() => {
          harness.after(proxy.delayMs() + PROBE_MS, () => proxy.pass(() => hear('data')));
        }),
      );
      return { close() {} };
    },
  };
}

function remaining(units: number | undefined) {
  if (units !== undefined) return { sku: SKU, remaining: units };
  throw new Error(`There is no sku ${SKU}.`);
}
