// The network of a target: every connection to a server goes through it. Each world has one.

import type { RedisOptions } from 'ioredis';
import type { RedisClient } from '../../locks/lock.ts';
import type { Link } from '../../stack/proxy/link.ts';

export interface HttpRequest {
  method: 'GET' | 'POST';
  url: URL;
  /** The body, if there is one. */
  json?: string | undefined;
  /** Under which the node records it: no other request has it at the same time. */
  requestId?: string | undefined;
  /** Who buys, where the lock is for a user. */
  user?: string | undefined;
  /** The client disconnects when it aborts. */
  signal: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  body: string;
}

/** A sign that shows where a connection leads. */
export type Heard = 'data' | 'end' | 'error';

/** What a replica copies over. */
export type ReplicaLine = Pick<Link, 'url' | 'port' | 'cut' | 'restore' | 'close'>;

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
  openLine(redisUrl: string): Promise<ReplicaLine>;
  /** Asks a Redis whether it is there, by the port of the link before it. `hear` is called each time something comes of it. */
  probe(port: number, hear: (what: Heard) => void): { close(): void };
}

export interface LoadRequest extends Pick<HttpRequest, 'method' | 'json'> {
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
