// Pub/sub over Redis: wakes those who wait for a message, and whenever a message may have been missed.

import { randomUUID } from 'node:crypto';
import { Cluster, Command, type Redis } from 'ioredis';
import type { RedisClient } from '../lock.ts';
import { ANSWER_LIMIT_MS } from './answer-limit.ts';

/** How often a waiting process asks whether Redis is still there, and how soon it connects again, in milliseconds. */
const PING_EVERY_MS = 250;
const RECONNECT_DELAY_MS = 100;

const processIds = new WeakMap<RedisClient, string>();

/** What this process is called in Redis, a UUID: the same for all its locks at one client, and different from any other process. */
export function processId(redis: RedisClient): string {
  const id = processIds.get(redis) ?? randomUUID();
  processIds.set(redis, id);
  return id;
}

/** Called with a message; without one when messages may have been missed, so that only Redis knows how things stand. */
type Wake = (message?: string) => void;

interface Channel {
  wakes: Set<Wake>;
  isSubscribed: boolean;
}

/** A connection that listens is good for nothing else: one for each client, shared by all its waiters. */
const subscribers = new WeakMap<Redis, ReturnType<typeof createSubscriber>>();

/**
 * Calls `wake` with each message on `channel`. Calls it without a message when the subscription stands, before it returns if
 * it stands already, and whenever a connection closes or is back: look again then. Returns what ends it.
 */
export function listen(redis: RedisClient, channel: string, wake: Wake): () => void {
  return redis instanceof Cluster ? listenAtOwner(redis, channel, wake) : listenAt(redis, channel, wake);
}

/** Listens at the server that holds the cluster slot: PUBLISH counts only the listeners at the server that it is sent to. */
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

  // One for each channel that is waited for.
  cluster.setMaxListeners(0);
  // The Cluster has been asked which server holds which cluster slots.
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

/** Which part of a Redis Cluster holds a key or a channel, from 0 to 16383. */
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

  /** While there is no connection this fails; then it is done when there is one. */
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

  /** A waiter sends nothing, so it would not notice that Redis has gone silent. Without a limit for the answer it never would. */
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

/** Connects again by itself. It keeps no command for later: each channel is subscribed to anew when it is ready. */
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
