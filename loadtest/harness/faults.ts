// Ways to break a stack from the outside, and back.

import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type Command, type Link, openLink } from '../../scripts/link/link.ts';
import type { SaleEvent } from '../../services/inventory/lab/contract.ts';
import { stockKey } from '../../services/inventory/store.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { sharedClock } from './shared-clock.ts';
import type { Target, TargetNode } from './target.ts';

/** How long a fault may take to be there, in milliseconds. */
const STAGE_LIMIT_MS = 5_000;
const LOOK_MS = 10;

/** The node is dead since `at`, on the shared clock, and had recorded these events. */
export interface Crash {
  node: TargetNode;
  at: number;
  events: SaleEvent[];
}

export interface FaultsOptions extends Pick<Target, 'nodes' | 'stack'> {
  /** The key of the lock, of which a replica must not know. */
  lockKey: string;
  /** The lock is given by a vote of several masters. */
  isVoted: boolean;
  /** Called when the nodes are led to another Redis. */
  onMove: (redisUrl: string) => void;
}

/** Ways to break a stack from the outside. Each can be undone, and `undoAll` undoes what has not been. */
export function createFaults({ nodes, stack, lockKey, isVoted, onMove }: FaultsOptions) {
  const undos: (() => unknown)[] = [];
  const crashes: Crash[] = [];

  /** The process of a node, to pause or to kill. Throws NotStagedError for a node that this run has not started. */
  function processOf(node: TargetNode) {
    if (node.process === undefined) throw new NotStagedError(`${node.name} is not a process of this run.`);
    return node.process;
  }

  /** Pauses a node's process until it is resumed. */
  function pause(node: TargetNode): { resume(): void } {
    const process = processOf(node);
    const resume = () => process.signal('SIGCONT');
    undos.push(resume);
    process.signal('SIGSTOP');
    return { resume };
  }

  /** Kills a node as a crash would, and resolves with the moment, on the shared clock. Its events so far are kept. */
  async function kill(node: TargetNode) {
    const process = processOf(node);
    const { events } = await node.history();
    const at = sharedClock();
    const crash: Crash = { node, at, events };
    crashes.push(crash);
    undos.push(async () => {
      await process.start();
      crashes.splice(crashes.indexOf(crash), 1);
    });
    await process.kill();
    if (await answers(node)) throw new NotStagedError(`${node.name} still answers after it was killed.`);
    return at;
  }

  /** What a node reaches Redis through. Throws NotStagedError when there is nothing between them. */
  function linkOf(node: TargetNode): Link {
    if (node.link === undefined) throw new NotStagedError(`${node.name} reaches Redis without a link.`);
    return node.link;
  }

  /**
   * Lets `act` make a node send a command, which its link holds. Resolves when it has come, with the line between the node
   * and its link cut, so that the node can't send another. Throws NotStagedError when the command never comes.
   *
   * A release that goes to several masters is held on its way to each of them.
   */
  async function holdOnItsWay(
    node: TargetNode,
    isMeant: (command: Command) => boolean,
    act: () => Promise<void>,
  ): Promise<{ arrive(): Promise<void> }> {
    const isForMasters = isVoted && isMeant !== isStockWrite;
    const links = isForMasters ? (node.masterLinks ?? []) : [linkOf(node)];
    const all = links.map((link) => link.holdNext(isMeant));
    // What comes after the stock write is meant: the write goes by here, and nothing is held.
    const onlooker = isForMasters && isMeant !== isRelease ? linkOf(node).holdNext(isMeant) : undefined;
    undos.push(() => {
      for (const held of all) held.drop();
      onlooker?.drop();
      for (const link of links) link.restore();
    });
    await act();
    const limit = sleep(STAGE_LIMIT_MS, undefined, { ref: false });
    const commands = await Promise.race([Promise.all(all.map(({ arrived }) => arrived)), limit]);
    if (commands === undefined) {
      throw new NotStagedError(`The link of ${node.name} never saw the command.`, { nothingToBreak: true });
    }
    for (const link of links) link.cut();
    return {
      /** Lets the command reach Redis. Throws NotStagedError when it has not. */
      async arrive() {
        const haveReached = await Promise.all(all.map((held) => held.letGo()));
        if (haveReached.includes(false)) throw new NotStagedError('The command that was held never reached Redis.');
      },
    };
  }

  /** The process of Redis, to stop or to kill. Throws NotStagedError for a Redis that this run has not started. */
  function redisProcess() {
    const process = stack?.redisProcess;
    if (process === undefined) throw new NotStagedError('Redis is not a process of this run.');
    return process;
  }

  /** Stops Redis where it stands until it is resumed. */
  async function stopRedis() {
    const process = redisProcess();
    const resume = async () => process.signal('SIGCONT');
    undos.push(resume);
    process.signal('SIGSTOP');
    return { comeBack: resume };
  }

  /** Kills Redis as a crash would, until it is started again with the data that it had. */
  async function killRedis() {
    const process = redisProcess();
    let isBack = false;
    const comeBack = async () => {
      if (isBack) return;
      isBack = true;
      await process.start();
    };
    undos.push(comeBack);
    await process.kill();
    return { comeBack };
  }

  /** A second Redis that copies the first, over a line that can be cut. Throws NotStagedError. */
  async function startReplica() {
    if (stack?.startReplica === undefined) throw new NotStagedError('This Redis knows no replication.');
    const { redis } = stack;
    const line = await openLink(redis.url);
    undos.push(() => line.close());
    const replica = await stack.startReplica(line.url);
    undos.push(() => replica.stop());
    const client = new Redis(replica.url);
    client.on('error', () => {});
    undos.push(() => client.disconnect());
    const hasCopied = async () => /master_link_status:up/.test(await client.info('replication'));
    await until(hasCopied, 'The replica has not copied the stock.');

    return {
      /** From here on nothing that is written to the first Redis reaches the second. */
      cutLine: () => line.cut('silent'),
      /** Makes it the Redis that both nodes reach from here on. */
      async promote() {
        await client.call('REPLICAOF', 'NO', 'ONE');
        if (await client.exists(lockKey)) throw new NotStagedError('The replica has heard of the lock.');
        undos.push(() => {
          for (const node of nodes) linkOf(node).moveTo(redis.url);
        });
        for (const node of nodes) linkOf(node).moveTo(replica.url);
        onMove(replica.url);
        for (const node of nodes) await untilReached(node);
      },
    };
  }

  return {
    /** The nodes that are dead now. */
    crashes,
    pause,
    kill,
    holdOnItsWay,
    restore(node: TargetNode) {
      linkOf(node).restore();
      for (const link of node.masterLinks ?? []) link.restore();
    },
    stopRedis,
    killRedis,
    startReplica,
    /** Takes note of how to undo a fault that is staged elsewhere. */
    onFault: (undo: () => unknown) => void undos.push(undo),
    /** Brings back all that was broken, the last first. Rejects when something could not be, after trying the rest. */
    async undoAll() {
      const errors: unknown[] = [];
      for (const undo of undos.splice(0).reverse()) {
        try {
          await undo();
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw errors[0];
    },
  };
}

function answers(node: TargetNode) {
  return node.state().then(
    () => true,
    () => false,
  );
}

/** Resolves when the node reaches Redis. Throws NotStagedError when it does not in time. */
function untilReached(node: TargetNode) {
  const isReached = () =>
    node.redis().then(
      () => true,
      () => false,
    );
  return until(isReached, `${node.name} did not reach Redis.`);
}

async function until(isThere: () => Promise<boolean>, otherwise: string) {
  const deadline = performance.now() + STAGE_LIMIT_MS;
  while (!(await isThere())) {
    if (performance.now() > deadline) throw new NotStagedError(otherwise);
    await sleep(LOOK_MS);
  }
}

/** The command that writes the stock, itself or in a script. */
export function isStockWrite({ name, script, args }: Command): boolean {
  return name !== 'GET' && script !== 'read-if-newest' && args.includes(stockKey('001'));
}

/** The command by which a holder of a lock of ours gives it up. */
export function isRelease({ name, script }: Command): boolean {
  return name === 'DEL' || (script?.startsWith('release-') ?? false);
}

/** The command by which an external lock is given up, which may be any: the first one after the stock write that names the lock's key. */
export function firstAfterWrite(lockKey: string): (command: Command) => boolean {
  let hasWritten = false;
  return (command) => {
    if (isStockWrite(command)) hasWritten = true;
    else return hasWritten && command.args.some((arg) => arg.includes(lockKey));
    return false;
  };
}
