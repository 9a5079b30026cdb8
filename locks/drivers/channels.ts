// Pub/sub over Redis: wakes waiters when a message arrives, and whenever they may have missed one.

import { randomUUID } from 'node:crypto';
import { Cluster, Command, type Redis } from 'ioredis';
import type { RedisClient } from '../lock.ts';
import { ANSWER_LIMIT_MS } from './answer-limit.ts';

/** How often a waiting process pings Redis, and how soon it reconnects, in milliseconds. */
const PING_EVERY_MS = 250;
const RECONNECT_DELAY_MS = 100;

const processIds = new WeakMap<RedisClient, string>();

/** The UUID of this process in Redis: the same for all locks that use one client, different for every process. */
export function processId(redis: RedisClient): string {
  const id = processIds.get(redis) ?? randomUUID();
  processIds.set(redis, id);
  return id;
}

/** Called with a message, or without one when messages may have been missed: the waiter must then ask Redis. */
type Wake = (message?: string) => void;

interface Channel {
  wakes: Set<Wake>;
  isSubscribed: boolean;
}

/** A subscribed connection can do nothing else: one per client, shared by all its waiters. */
const subscribers = new WeakMap<Redis, ReturnType<typeof createSubscriber>>();

/**
 * Calls `wake` with each message on `channel`. Also calls it without a message once the subscription is active (before this
 * returns if it already is) and whenever a connection closes or is restored: check again then. Returns a function to stop.
 */
export function listen(redis: RedisClient, channel: string, wake: Wake): () => void {
  return redis instanceof Cluster ? listenAtOwner(redis, channel, wake) : listenAt(redis, channel, wake);
}

/** Subscribes at the server that owns the hash slot: PUBLISH counts only subscribers of the server that receives it. */
function listenAtOwner(cluster: Cluster, channel: string, wake: Wake): () => void {
  let owner: Redis | undefined;
  let stop = ignore;

  function follow() {
    const found = ownerOf(cluster, channel);
    if (found === owner) return;
    stop();
    owner = found;
    stop = owner ? listenAt(owner, channel, wake) : ignore;
  }

  // One listener per channel that has waiters.
  cluster.setMaxListeners(0);
  // The client has refreshed its map of hash slots.
  cluster.on('refresh', follow);
  follow();
  return () => {
    cluster.off('refresh', follow);
    stop();
  };
}

function ownerOf(cluster: Cluster, channel: string) {
  const address = cluster.slots[clusterSlotOf(channel)]?.[0];
  return cluster.nodes('master').find(({ options }) => `${options.host}:${options.port}` === address);
}

/** The hash slot of a key or a channel in Redis Cluster, from 0 to 16383. */
export const clusterSlotOf = (key: string): number => new Command('GET', [key]).getSlot() ?? 0;

function listenAt(redis: Redis, channel: string, wake: Wake): () => void {
  if (redis.status === 'end') return ignore;
  const subscriber = subscribers.get(redis) ?? createSubscriber(redis);
  subscribers.set(redis, subscriber);
  return subscriber.listen(channel, wake);
}

function createSubscriber(redis: Redis) {
  const channels = new Map<string, Channel>();
  const connection = connectSubscriber(redis);
  let pings: NodeJS.Timeout | undefined;

  connection.on('message', (name: string, message: string) => {
    const channel = channels.get(name);
    if (channel) wakeAll(channel, message);
  });
  connection.on('ready', () => {
    for (const [name, channel] of channels) subscribe(name, channel);
  });
  connection.on('close', () => {
    for (const channel of channels.values()) channel.isSubscribed = false;
    lookAgain();
  });
  redis.on('close', lookAgain);
  redis.on('ready', lookAgain);
  redis.once('end', () => {
    subscribers.delete(redis);
    redis.off('close', lookAgain);
    redis.off('ready', lookAgain);
    clearInterval(pings);
    connection.disconnect();
  });

  /** Fails while there is no connection; `ready` then subscribes again. */
  function subscribe(name: string, channel: Channel) {
    connection.subscribe(name).then(() => {
      channel.isSubscribed = true;
      wakeAll(channel);
    }, ignore);
  }

  function wakeAll({ wakes }: Channel, message?: string) {
    for (const wake of [...wakes]) wake(message);
  }

  function lookAgain() {
    for (const channel of channels.values()) wakeAll(channel);
  }

  /** A waiter sends nothing, so without pings it would not notice that Redis no longer replies. */
  function ping() {
    for (const client of [redis, connection]) if (client.status === 'ready') client.ping().catch(ignore);
  }

  function open(name: string) {
    const channel = { wakes: new Set<Wake>(), isSubscribed: false };
    if (channels.size === 0 && connection.options.socketTimeout) pings = setInterval(ping, PING_EVERY_MS).unref();
    channels.set(name, channel);
    subscribe(name, channel);
    return channel;
  }

  return {
    listen(name: string, wake: Wake) {
      const channel = channels.get(name) ?? open(name);
      channel.wakes.add(wake);
      if (channel.isSubscribed) wake();

      return () => {
        if (!channel.wakes.delete(wake) || channel.wakes.size > 0) return;
        channels.delete(name);
        if (channels.size === 0) clearInterval(pings);
        connection.unsubscribe(name).catch(ignore);
      };
    },
  };
}

/** Reconnects automatically. It queues no commands: when it is ready, each channel is subscribed to again. */
function connectSubscriber(redis: Redis) {
  const connection = redis.duplicate({
    lazyConnect: false,
    enableOfflineQueue: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    socketTimeout: ANSWER_LIMIT_MS,
    connectTimeout: ANSWER_LIMIT_MS,
    retryStrategy: () => RECONNECT_DELAY_MS,
  });
  connection.on('error', ignore);
  return connection;
}

function ignore() {}
