// Ways to break a stack from the outside, and back.

import { deletingCommands } from '../../locks/drivers/delete-if-equal.ts';
import type { Backend } from '../../locks/index.ts';
import type { Command, Held, Link } from '../../scripts/link/link.ts';
import type { Stack } from '../../scripts/stack/stack.ts';
import type { SaleEvent } from '../../services/inventory/lab/contract.ts';
import { stockKey } from '../../services/inventory/store.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { sharedClock, sleep, wallClock } from './clock.ts';
import { network } from './network.ts';
import type { Target, TargetNode } from './target.ts';

const stock = stockKey('001');
/** A key that a drill writes when it has cut the line of a replica. */
const cutMark = `${stock}:after-the-cut`;
/** How long a fault may take to be there, in milliseconds. */
const STAGE_LIMIT_MS = 5_000;
const LOOK_MS = 10;

/** The process of the node died `at` this moment, on the shared clock. When it was about to, it had recorded these events. */
export interface Crash {
  node: TargetNode;
  at: number;
  events: SaleEvent[];
}

export interface FaultsOptions extends Pick<Target, 'nodes' | 'stack'> {
  /** Where the lock is. */
  backend: Backend;
  /** Called when the nodes are led to another Redis. */
  onMove: (redisUrl: string) => void;
}

/** Ways to break a stack from the outside. Each can be undone, and `undoAll` undoes what has not been. */
export function createFaults({ nodes, stack, backend, onMove }: FaultsOptions) {
  const undos: (() => unknown)[] = [];
  const crashes: Crash[] = [];
  /** How each dead node is started again. */
  const revivals = new Map<TargetNode, () => Promise<void>>();
  /** The replica that the stack has is one that this drill breaks. */
  let isLastingTaken = false;

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
    const crash: Crash = { node, at: sharedClock(), events };
    crashes.push(crash);
    async function revive() {
      if (revivals.get(node) !== revive) return;
      await process.start();
      revivals.delete(node);
    }
    revivals.set(node, revive);
    undos.push(revive);
    await process.kill();
    // Until then it goes on.
    crash.at = sharedClock();
    if (await answers(node)) throw new NotStagedError(`${node.name} still answers after it was killed.`);
    return crash.at;
  }

  /** Has the clock of a node run so many times as fast as that of its machine. Returns what reads it, in milliseconds. */
  function runClock(node: TargetNode, rate: number): () => number {
    if (node.runClock === undefined) throw new NotStagedError(`The clock of ${node.name} can't be set.`);
    undos.push(() => node.runClock?.(1));
    return node.runClock(rate);
  }

  /** Starts a node that was killed. One that was not runs on. */
  async function revive(node: TargetNode) {
    await revivals.get(node)?.();
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
    const links = isMeant === isRelease && backend === 'masters' ? (node.masterLinks ?? []) : [linkOf(node)];
    const all = links.map((link) => link.holdNext(isMeant));
    undos.push(() => {
      for (const held of all) held.drop();
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

  /** Holds the next such command of a node, and what its connection sends later, until it is let go. Its line stays. */
  function holdNext(node: TargetNode, isMeant: (command: Command) => boolean): Held {
    const held = linkOf(node).holdNext(isMeant);
    undos.push(() => held.drop());
    return held;
  }

  /** Passes every answer of Redis to a node on so much later, in milliseconds, until it is over. */
  function delayAnswers(node: TargetNode, ms: number): { over(): void } {
    const link = linkOf(node);
    const over = () => link.delayReplies(0);
    undos.push(over);
    link.delayReplies(ms);
    return { over };
  }

  /** What a node reaches the servers of the lock through. Throws NotStagedError when there is nothing between them. */
  function linksToLock(node: TargetNode): Link[] {
    if (backend === 'redis') return [linkOf(node)];
    const links = backend === 'masters' ? (node.masterLinks ?? []) : [node.backendLinks?.[backend]];
    const open = links.filter((link) => link !== undefined);
    if (open.length === 0) throw new NotStagedError(`${node.name} reaches the servers of its lock without a link.`);
    return open;
  }

  /**
   * Cuts a node off from the servers of the lock, and from no other: no packet passes, and neither side is told. What was sent
   * meanwhile arrives after `restore`, which throws NotStagedError when something has passed all the same.
   */
  function cutOff(node: TargetNode): { restore(): void } {
    const links = linksToLock(node);
    let probes: ReturnType<typeof openProbe>[] = [];
    const undo = () => {
      for (const probe of probes) probe.close();
      for (const link of links) link.restore();
    };
    undos.push(undo);
    for (const link of links) link.cut('silent');
    probes = links.map(openProbe);
    return {
      restore() {
        const hasPassed = probes.some((probe) => probe.hasHeard());
        undo();
        if (hasPassed) throw new NotStagedError(`${node.name} still reached the servers of its lock.`);
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

  /** A connection for what the drill itself reads and writes. */
  function connect(url: string) {
    const client = network().connectRedis(url, { retryStrategy: () => LOOK_MS });
    client.on('error', () => {});
    undos.push(() => client.disconnect());
    return client;
  }

  /** The replica that the stack has, over whose line the locks are confirmed; the first time that it is asked for. */
  function takeLasting({ replica, redis }: Pick<Stack, 'replica' | 'redis'>) {
    const { line, url } = replica ?? {};
    if (line === undefined || url === undefined || isLastingTaken) return undefined;
    isLastingTaken = true;
    const client = connect(url);
    undos.push(async () => {
      isLastingTaken = false;
      line.restore();
      // One that was promoted copies again, and has nothing of its own any more.
      await client.call('REPLICAOF', '127.0.0.1', line.port);
      await network().untilCopied({ primaryUrl: redis.url, replicaUrl: url });
    });
    return { url, line, client };
  }

  async function startAnother({ startReplica, redis }: Partial<Pick<Stack, 'startReplica'>> & Pick<Stack, 'redis'>) {
    if (startReplica === undefined) throw new NotStagedError('This Redis knows no replication.');
    const line = await network().openLink(redis.url);
    undos.push(() => line.close());
    const { url, stop } = await startReplica(line.url);
    undos.push(stop);
    return { url, line, client: connect(url) };
  }

  /**
   * A Redis that copies the first, over a line that can be cut: the replica that the stack has, if it has one, and after that another
   * one each time. Throws NotStagedError.
   */
  async function startReplica() {
    if (stack === undefined) throw new NotStagedError('Redis is not a process of this run.');
    const { url, line, client } = takeLasting(stack) ?? (await startAnother(stack));
    await network()
      .untilCopied({ primaryUrl: stack.redis.url, replicaUrl: url })
      .catch((error: Error) => {
        throw new NotStagedError(error.message);
      });
    const redis = connect(stack.redis.url);

    return {
      /** From here on nothing that is written to the first Redis reaches this one. */
      async cutLine() {
        line.cut('silent');
        // It must not hear of this, whatever the sales write.
        undos.push(() => redis.del(cutMark));
        await redis.set(cutMark, 'written after the cut');
      },
      /** Resolves when it has heard of all that was written since the line of another replica was cut. Throws NotStagedError. */
      async hearsAll() {
        const isSame = async () =>
          (await client.exists(cutMark)) === 1 && (await client.get(stock)) === (await redis.get(stock));
        await until(isSame, 'The replica that was not cut off has not heard of the sale.');
      },
      /** Makes it the Redis that both nodes reach from here on. Throws NotStagedError when it knows what it must not know. */
      async promote() {
        await client.call('REPLICAOF', 'NO', 'ONE');
        if (await client.exists(cutMark)) throw new NotStagedError('The replica has heard of what came after the cut.');
        undos.push(() => {
          for (const node of nodes) linkOf(node).moveTo(stack.redis.url);
        });
        for (const node of nodes) linkOf(node).moveTo(url);
        onMove(url);
        for (const node of nodes) await untilReached(node);
      },
    };
  }

  /** Keeps the commands that a node sends to Redis, from here on. Throws NotStagedError when nothing is between them. */
  function watchCommands(node: TargetNode): { commands: Command[]; end(): void } {
    const commands: Command[] = [];
    const end = linkOf(node).watch((command) => void commands.push(command));
    undos.push(end);
    return { commands, end };
  }

  /**
   * Leads the nodes to a server whose wall clock can be set ahead, in the place of the one that these links lead to. Resolves when
   * every node is there. Throws NotStagedError.
   */
  async function lendClock(links: Link[], redisUrl: string) {
    if (stack === undefined) throw new NotStagedError('No server of this run has a clock that can be set.');
    const server = await stack.startClockServer();
    undos.push(server.stop);
    await network().loadScripts(server.url);
    const client = connect(server.url);
    undos.push(() => {
      for (const link of links) link.moveTo(redisUrl);
    });
    const greetings = links.map(greetingsOf);
    for (const link of links) link.moveTo(server.url);
    const areThere = async () => links.every((link, at) => greetingsOf(link) > (greetings[at] ?? 0));
    await until(areThere, 'A node did not reach the server whose clock can be set.');

    return {
      url: server.url,
      /** Sets its clock ahead by so many milliseconds. Throws NotStagedError when it says that it is not. */
      async jump(ms: number) {
        const aheadMs = async () => Number((await client.time())[0]) * 1_000 - wallClock();
        server.setAhead(ms);
        // It counts in whole seconds here.
        await until(async () => (await aheadMs()) > ms - 2_000, 'The clock did not jump.');
      },
    };
  }

  /** Leads the nodes from Redis to a server whose wall clock can be set ahead. Throws NotStagedError. */
  async function lendClockOfRedis() {
    const clock = await lendClock(nodes.map(linkOf), stack?.redis.url ?? '');
    onMove(clock.url);
    for (const node of nodes) await untilReached(node);
    return clock;
  }

  return {
    /** Every death so far, also of a node that runs again. */
    crashes: crashes as readonly Crash[],
    isDead: (node: TargetNode) => revivals.has(node),
    pause,
    kill,
    runClock,
    revive,
    holdOnItsWay,
    holdNext,
    delayAnswers,
    watchCommands,
    cutOff,
    restore(node: TargetNode) {
      linkOf(node).restore();
      for (const link of node.masterLinks ?? []) link.restore();
    },
    stopRedis,
    killRedis,
    startReplica,
    lendClock,
    lendClockOfRedis,
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

/** How often a client of this link has asked, as each does first, whether its server is ready. */
export const greetingsOf = ({ counters }: Link) => counters.commands.get('INFO') ?? 0;

/** A connection over a link, which hears of the server as long as something passes: an answer, a greeting, or its end. */
function openProbe({ port }: Link) {
  let hasHeard = false;
  const { close } = network().probe(port, () => {
    hasHeard = true;
  });
  return { hasHeard: () => hasHeard, close };
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
  const deadline = sharedClock() + STAGE_LIMIT_MS;
  while (!(await isThere())) {
    if (sharedClock() > deadline) throw new NotStagedError(otherwise);
    await sleep(LOOK_MS);
  }
}

/** The command that reads the stock, itself or in a script. */
export function isStockRead({ name, script, args }: Command): boolean {
  return (name === 'GET' || script === 'read-if-newest') && args.includes(stock);
}

/** The command that writes the stock, itself or in a script. */
export function isStockWrite({ name, script, args }: Command): boolean {
  return !['GET', 'MGET'].includes(name) && script !== 'read-if-newest' && args.includes(stock);
}

/** What deletes the key of a lock of ours, besides a script. */
const deleting = new Set(['DEL', ...Object.keys(deletingCommands)]);

/** The command by which a holder of a lock of ours gives it up. */
export function isRelease({ name, script }: Command): boolean {
  return deleting.has(name) || (script?.startsWith('release-') ?? false);
}
