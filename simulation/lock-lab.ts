// A simulation for processes that only use a lock: nothing else runs in it.

import { isOnSockets, type LockSource, type OpenedLock, openLockFile } from './lock-service.ts';
import { createLuck } from './luck.ts';
import { startNode, type VirtualNode } from './node.ts';
import { createProxy } from './proxy.ts';
import { createSchedule } from './schedule.ts';
import { openServer, type VirtualServer } from './server.ts';
import type { Identity } from './world.ts';

export interface ProcessOptions {
  clock?: { aheadMs?: number; rate?: number };
  /** How long a packet takes between the process and a server, in milliseconds. */
  oneWayMs?: number;
  /** How long it waits for an answer before it gives the connection up, in milliseconds: without it for ever. */
  answerLimitMs?: number;
  /** What it has in common with other processes, such as pid 1 and a hostname. */
  identity?: Identity;
}

/** Reads a lock's file. */
export async function readLockCode(source: LockSource) {
  return { open: await openLockFile(source), isOnSockets: isOnSockets(source) };
}
export type LockCode = Awaited<ReturnType<typeof readLockCode>>;

export type LockLab = Awaited<ReturnType<typeof openLockLab>>;

/** A clock at 0 ms, a Redis, and so many masters that vote. */
export async function openLockLab(masterCount: number) {
  const schedule = createSchedule();
  const luck = createLuck();
  const redis = await openServer(schedule);
  const masters: VirtualServer[] = [];
  while (masters.length < masterCount) masters.push(await openServer(schedule));
  const servers = [redis, ...masters];
  const nodes: VirtualNode<OpenedLock>[] = [];

  /** Starts a process that evaluates the lock's file. */
  function start(
    { open, isOnSockets }: LockCode,
    { clock = {}, oneWayMs, answerLimitMs = Number.POSITIVE_INFINITY, identity = {} }: ProcessOptions = {},
  ) {
    const proxies = servers.map(createProxy);
    const node = startNode<OpenedLock>({
      name: `node-${nodes.length + 1}`,
      index: nodes.length,
      starts: 1,
      clock,
      identity,
      answerLimitMs,
      schedule,
      proxies,
      luck,
      isOnSockets,
      ...(oneWayMs !== undefined && { oneWayMs }),
      start: open,
      tell() {},
    });
    nodes.push(node);
    schedule.join(node.actor);
    const { exports, clientOf } = node.service;
    const [client, ...others] = servers.map((_, server) => clientOf(server));
    return { node, proxies, exports, clients: { redis: client, masters: others } };
  }

  return {
    schedule,
    redis,
    masters,
    start,
    /** What a process has used that the simulation does not have. */
    refusal: () => nodes.map(({ lacking }) => lacking()).find((what) => what !== undefined),
    close() {
      for (const server of servers) server.close();
    },
  };
}
