// The whole simulation: two nodes that sell under one lock, their servers, and the proxies between them.

import type { SaleEvent } from '../services/inventory/sale/contract.ts';
import { stockKey } from '../services/inventory/servers/store.ts';
import type { PlayEvent, Tell } from './events.ts';
import { isOnSockets, type LockSource, openService } from './lock-service.ts';
import { createLuck } from './luck.ts';
import { startNode, type VirtualNode } from './node.ts';
import { createProxy } from './proxy.ts';
import { contentOf, isSameContent, type RedisContent } from './redis-content.ts';
import { type HttpAnswer, type Request, sendRequest } from './request.ts';
import { createSchedule } from './schedule.ts';
import { OUTSIDE, openServer, type VirtualServer } from './server.ts';
import type { Service } from './service.ts';
import type { Command } from './world/commands.ts';
import type { Place } from './world.ts';

export interface LabOptions {
  lock: LockSource;
  leaseMs: number;
  retryDelayMs?: number;
  waitTimeoutMs?: number;
  /** How many masters vote for the lock. */
  masters?: number;
}

export type Lab = Awaited<ReturnType<typeof openLab>>;

const NODES = ['node-1', 'node-2'];
const SKU = '001';
/** A node has connected to its servers by then, in milliseconds. */
const READY_LIMIT_MS = 5_000;
/** So many servers may be opened while the clock goes on: it does not wait for a new one. */
const MORE_SERVERS = 3;

/** Opens the world at 0 ms. Close it, so that the next one finds its servers. */
export async function openLab({ lock, leaseMs, retryDelayMs = 20, waitTimeoutMs = 10_000, masters = 0 }: LabOptions) {
  const startService = await openService(lock);
  const onSockets = isOnSockets(lock);
  const schedule = createSchedule();
  const luck = createLuck();
  const events: PlayEvent[] = [];
  const opened: VirtualServer[] = [];
  /** Those that may be opened later: no other world takes them. */
  const spare: VirtualServer[] = [];
  const starts = NODES.map(() => 0);
  /** Requests that may be under way. */
  const requests = new Set<Request>();

  /** Which node each process is, by what its owner tokens begin with. */
  const instances = new Map<string, string>();
  /** The key of the lock that is watched, and what Redis held under it last. */
  let watched: { key: string; last?: RedisContent } | undefined;

  async function openAnother() {
    const server = spare.pop() ?? (await openServer(schedule));
    opened.push(server);
    if (watched) server.watch(() => look(server));
    return server;
  }

  /** Tells what a server holds, if the nodes have their stock there and it has changed. */
  function look(server: VirtualServer) {
    if (watched === undefined || proxies[0]?.[0]?.server() !== server) return;
    const content = contentOf(server.read, { stockKey: stockKey(SKU), lockKey: watched.key }, schedule.now());
    if (isSameContent(watched.last, content)) return;
    watched.last = content;
    tell({ kind: 'redis', ...content });
  }

  const redis = await openAnother();
  const voting: VirtualServer[] = [];
  for (let master = 0; master < masters; master += 1) voting.push(await openAnother());
  while (spare.length < MORE_SERVERS) spare.push(await openServer(schedule));
  const servers = [redis, ...voting];
  const proxies = NODES.map(() => servers.map(createProxy));

  const tell: Tell = (event) => void events.push({ at: schedule.now(), ...event } as PlayEvent);

  /** What follows from a step of a sale is its work. */
  const followSale =
    (node: string, { world }: Place) =>
    ({ type, saleId, ...more }: Omit<SaleEvent, 'at' | 'node'>) => {
      world.atSale(saleId);
      tell({ kind: 'sale', node, sale: saleId, step: type, ...more });
    };

  function start(index: number): VirtualNode {
    const name = NODES[index] ?? '';
    starts[index] = (starts[index] ?? 0) + 1;
    const timing = { leaseMs, retryDelayMs, waitTimeoutMs };
    let instance = '';
    const node = startNode({
      name,
      index,
      starts: starts[index],
      schedule,
      proxies: proxies[index] ?? [],
      luck,
      start(place) {
        const { atSale } = place.world;
        const followed = { onStep: followSale(name, place), onPass: atSale };
        return startService(place, { node: name, ...timing, ...followed }, masters);
      },
      // Where a message has woken it, its owner token says which sale it is.
      saleIn: (command) => saleOf(instance, command),
      isOnSockets: onSockets,
      recordsByHost: true,
      tell,
      onLine(line, sale) {
        const last = events.at(-1);
        // A lock that goes round for ever leaves one line a moment.
        if (last?.kind === 'line' && last.node === name && last.at === schedule.now())
          Object.assign(last, { line, sale });
        else tell({ kind: 'line', node: name, line, sale });
      },
    });
    instance = node.service.state().instance;
    instances.set(instance, name);
    return node;
  }

  const nodes = NODES.map((_, index) => start(index));
  for (const { actor } of nodes) schedule.join(actor);
  if (onSockets) await schedule.until(() => nodes.every(({ service }) => service.isReady()), READY_LIMIT_MS);

  return {
    schedule,
    now: schedule.now,
    /** What has happened so far. */
    events,
    instances,
    /** From here on it is told what the Redis of the nodes holds, in the stock and under this key of a lock, when that changes. */
    watchRedis(key: string) {
      watched = { key };
      for (const server of opened) server.watch(() => look(server));
    },
    tell,
    redis,
    /** The masters that vote. */
    masters: voting,
    openServer: openAnother,
    /** What each node reaches its Redis and then the masters through. */
    proxies,
    /** The nodes that run now, or ran last. */
    node: (index: number) => nodes[index] as VirtualNode,
    /** What a node has used that the simulation does not have, such as `worker_threads.Worker()`. */
    lacking: () => nodes.map(({ lacking }) => lacking()).find((what) => what !== undefined),
    /** Sends a request to a node. */
    request(
      index: number,
      act: (service: Service, client: never) => Promise<object>,
      onEnd: (answer: HttpAnswer | undefined) => void,
      requestId?: string,
    ): Request {
      const node = nodes[index] as VirtualNode;
      const request = sendRequest({
        schedule,
        node,
        act: (client) => act(node.service, client as never),
        problemOf: node.service.problemOf,
        requestId,
        onEnd(answer) {
          requests.delete(request);
          onEnd(answer);
        },
      });
      requests.add(request);
      return request;
    },
    /** Kills a node as a crash does. Its clients see their connections end. */
    kill(index: number) {
      const node = nodes[index];
      if (node === undefined || node.isDead()) return;
      node.kill();
      for (const request of requests) if (request.node === node) schedule.after(0, request.cutOff);
    },
    /** Starts a node again that was killed: it has forgotten everything. */
    revive(index: number) {
      const dead = nodes[index];
      if (!dead?.isDead()) return;
      const node = start(index);
      nodes[index] = node;
      schedule.replace(dead.actor, node.actor);
      tell({ kind: 'node', node: node.name, is: 'started again' });
    },
    /** Asks the Redis of the nodes, at once and past every proxy. */
    ask: (...command: (string | number)[]) => redis.execute(OUTSIDE, command),
    close() {
      for (const server of [...opened.splice(0), ...spare.splice(0)]) server.close();
    },
  };
}

/** The sale whose owner token a command of this process brings. */
function saleOf(instance: string, command: Command): string | undefined {
  const token = command.find((part) => String(part).startsWith(`${instance}:`));
  return token === undefined ? undefined : String(token).slice(instance.length + 1);
}
