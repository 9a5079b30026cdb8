// Ways to break a stack from the outside, and back; and which commands of a node read the stock, write it, and give a lock up.

import { deletingCommands } from '../../locks/drivers/delete-if-equal.ts';
import type { Backend } from '../../locks/index.ts';
import type { RedisClient } from '../../locks/lock.ts';
import { stockKey } from '../../services/inventory/servers/store.ts';
import type { Command, Link } from '../../stack/proxy/link.ts';
import type { Breakable } from '../../stack/stack.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { poll } from './clock.ts';
import { readLease } from './lease-watch.ts';
import type { Target, TargetNode } from './target.ts';

const stock = stockKey('001');
/** A key that a drill writes when it has cut the line of a replica. */
const cutMark = `${stock}:after-the-cut`;
/** How long a fault may take to be there, in milliseconds. */
const STAGE_LIMIT_MS = 5_000;
const LOOK_MS = 10;
/** How long a server may leave the harness unanswered before it counts as silent, in milliseconds. */
const ANSWER_LIMIT_MS = 200;

export interface FaultsOptions {
  /** Where the lock is, and its key. */
  backend: Backend;
  lockKey: string;
  /** Called when the nodes are led to another Redis. */
  onMove?: (redisUrl: string) => void;
  /** Resolves when all is known that a node has recorded: it is killed next. */
  beforeKill?: (node: TargetNode) => Promise<unknown>;
}

/**
 * Ways to break a stack from the outside. Each can be undone, and `undoAll` undoes what has not been. Each throws NotStagedError when it
 * has no effect. A master is named by its place in the stack, from 0.
 */
export function createFaults(
  { nodes, stack, clock, network }: Pick<Target, 'nodes' | 'stack' | 'clock' | 'network'>,
  options: FaultsOptions,
) {
  const { backend, lockKey, onMove = () => {}, beforeKill = async () => {} } = options;
  const undos: (() => unknown)[] = [];
  /** Each death of a process of a node so far, on the shared clock. */
  const deaths: { node: string; at: number }[] = [];
  /** How each dead node is started again. */
  const revivals = new Map<TargetNode, () => Promise<unknown>>();
  /** The replica that the stack has is one that this drill breaks. */
  let isLastingTaken = false;
  let isRedisBroken = false;
  const masters = backend === 'masters' ? (stack?.masters ?? []) : [];
  const voters = masters.map(({ url }) => connect(url, { commandTimeout: ANSWER_LIMIT_MS, maxRetriesPerRequest: 0 }));

  /** A connection for what the drill itself reads and writes, until all is undone. */
  function connect(url: string, options = {}): RedisClient {
    const client = network.connectRedis(url, { ...options, retryStrategy: () => LOOK_MS });
    client.on('error', () => {});
    return client;
  }

  function connectForNow(url: string) {
    const client = connect(url);
    undos.push(() => client.disconnect());
    return client;
  }

  const processOf = (name: string, process: Breakable | undefined) =>
    ours(process, `${name} is not a process of this run.`);
  const ofNode = ({ name, process }: TargetNode) => processOf(name, process);
  /** It is about to fail. */
  function redisProcess() {
    isRedisBroken = true;
    return processOf('Redis', stack?.redisProcess);
  }
  const ofMaster = (master: number) => processOf(`Master ${master + 1}`, masters[master]?.process);

  /** Stops a process where it stands until it comes back. */
  function halt(process: Breakable) {
    const comeBack = () => process.signal('SIGCONT');
    undos.push(comeBack);
    process.signal('SIGSTOP');
    return { comeBack };
  }

  /** Kills a process as a crash would, until it comes back. */
  async function crash(process: Breakable) {
    const comeBack = willComeBack(process);
    await process.kill();
    return { comeBack };
  }

  /** What starts a process once that is about to be killed. */
  function willComeBack(process: Breakable, onBack: () => unknown = () => {}) {
    let back: Promise<unknown> | undefined;
    const comeBack = () => (back ??= process.start().then(onBack));
    undos.push(comeBack);
    return comeBack;
  }

  /** Kills a node, and resolves with the moment, on the shared clock. What it has recorded is known. */
  async function kill(node: TargetNode) {
    const process = ofNode(node);
    await beforeKill(node);
    const comeBack = willComeBack(process, () => revivals.delete(node));
    revivals.set(node, comeBack);
    await process.kill();
    const at = clock.now();
    if (await isThere(node.state())) throw new NotStagedError(`${node.name} still answers after it was killed.`);
    deaths.push({ node: node.name, at });
    return at;
  }

  /** Has the clock of a node run so many times as fast as that of its machine. Returns what reads it, in milliseconds. */
  function runClock(node: TargetNode, rate: number): () => number {
    const setRate = ours(node.runClock, `The clock of ${node.name} can't be set.`);
    undos.push(() => setRate(1));
    return setRate(rate);
  }

  /** What a node reaches Redis through. */
  const linkOf = ({ name, link }: TargetNode): Link => ours(link, `${name} reaches Redis without a link.`);

  const linksToMasters = ({ name, masterLinks }: TargetNode, wanted: number[]): Link[] =>
    wanted.map((at) => ours(masterLinks?.[at], `${name} reaches master ${at + 1} without a link.`));

  /** What a node reaches the servers of the lock through. */
  function linksToLock(node: TargetNode): Link[] {
    if (backend === 'redis') return [linkOf(node)];
    if (backend !== 'masters')
      return [ours(node.backendLinks?.[backend], `${node.name} reaches its lock without a link.`)];
    return linksToMasters(node, [...masters.keys()]);
  }

  /** Cuts these lines until what is returned mends them. */
  function cut(links: Link[], how?: Parameters<Link['cut']>[0]): () => void {
    const restore = () => {
      for (const link of links) link.restore();
    };
    undos.push(restore);
    for (const link of links) link.cut(how);
    return restore;
  }

  /** Holds the next such command on each line, and what its connection sends later, until it goes on. Lines stay. */
  function hold(links: Link[], isMeant: (command: Command) => boolean) {
    const all = links.map((link) => link.holdNext(isMeant));
    undos.push(() => {
      for (const held of all) held.drop();
    });
    let isThere = false;
    const arrived = Promise.all(all.map((held) => held.arrived)).then(() => {
      isThere = true;
    });
    arrived.catch(() => {});
    return {
      /** Resolves when it has come, on each line. */
      arrived,
      isThere: () => isThere,
      /** It arrives, if it has come, and no other is held in its place. Throws NotStagedError when it does not reach its server. */
      async goOn() {
        const haveReached = await Promise.all(all.map((held) => held.letGo()));
        if (isThere && haveReached.includes(false))
          throw new NotStagedError('A command that was held never reached Redis.');
      },
    };
  }

  /**
   * Lets `act` make a node send a command, which its link holds. Resolves when it has come, with the line between the node and its link
   * cut, so that the node can't send another. A release that goes to several masters is held on its way to each of them.
   */
  async function holdOnItsWay(node: TargetNode, isMeant: (command: Command) => boolean, act: () => Promise<unknown>) {
    const links = isMeant === isRelease && backend === 'masters' ? (node.masterLinks ?? []) : [linkOf(node)];
    const held = hold(links, isMeant);
    await act();
    await Promise.race([held.arrived, clock.sleep(STAGE_LIMIT_MS, undefined, { ref: false })]);
    if (!held.isThere()) {
      throw new NotStagedError(`The link of ${node.name} never saw the command.`, { nothingToBreak: true });
    }
    cut(links);
    return held;
  }

  /** How long a server takes to answer over a link, in milliseconds. Rejects when the connection breaks. */
  function answerTime({ port }: Link): Promise<number> {
    const askedAt = clock.now();
    return new Promise<number>((resolve, reject) => {
      const probe = network.probe(port, (what) => {
        probe.close();
        if (what === 'data') resolve(clock.now() - askedAt);
        else reject(new Error('The connection to a master broke.'));
      });
    });
  }

  /** What no event tells is asked for again and again. */
  async function until(isSo: () => Promise<boolean>, otherwise: string) {
    const found = await poll(clock, STAGE_LIMIT_MS, async () => (await isSo()) || undefined);
    if (!found) throw new NotStagedError(otherwise);
  }

  /** Passes every answer on these lines on so much later, in milliseconds, until it is over. */
  function delay(links: Link[], ms: number) {
    const delayBy = (late: number) => {
      for (const link of links) link.delayReplies(late);
    };
    undos.push(() => delayBy(0));
    delayBy(ms);
    return {
      over: () => delayBy(0),
      /** The shortest time in which a server answers over one of them, in milliseconds. */
      measure: async () => Math.min(...(await Promise.all(links.map(answerTime)))),
    };
  }

  /**
   * Cuts a node off from the servers of the lock, and from no other: no packet passes, and neither side is told. What was sent
   * meanwhile arrives after `restore`, which throws NotStagedError when something has passed all the same.
   */
  function cutOff(node: TargetNode): { restore(): void } {
    const links = linksToLock(node);
    const mend = cut(links, 'silent');
    let hasPassed = false;
    const hear = () => {
      hasPassed = true;
    };
    const probes = links.map(({ port }) => network.probe(port, hear));
    const undo = () => {
      for (const probe of probes) probe.close();
      mend();
    };
    undos.push(undo);
    return {
      restore() {
        const isWhole = hasPassed;
        undo();
        if (isWhole) throw new NotStagedError(`${node.name} still reached the servers of its lock.`);
      },
    };
  }

  /**
   * A Redis that copies the first, over a line that can be cut: the replica that the stack has, over whose line the locks are confirmed,
   * and after that another one each time.
   */
  async function startReplica() {
    const { redis: primary, replica } = ours(stack, 'Redis is not a process of this run.');
    const lasting = !isLastingTaken && replica?.line && { url: replica.url, line: replica.line };
    const { url, line } = lasting || (await startAnother());
    const client = connectForNow(url);
    const hasCopied = () => network.untilCopied({ primaryUrl: primary.url, replicaUrl: url });
    if (lasting) {
      isLastingTaken = true;
      undos.push(async () => {
        isLastingTaken = false;
        line.restore();
        // One that was promoted copies again, and has nothing of its own any more.
        await client.call('REPLICAOF', '127.0.0.1', line.port);
        await hasCopied();
      });
    }
    await hasCopied().catch((error: Error) => {
      throw new NotStagedError(error.message);
    });
    const redis = connectForNow(primary.url);

    return {
      /** From here on nothing that is written to the first Redis reaches this one. */
      async cutLine() {
        line.cut('silent');
        // It must not hear of this, whatever the sales write.
        undos.push(() => redis.del(cutMark));
        await redis.set(cutMark, 'written after the cut');
      },
      /** Resolves when it has heard of all that was written since the line of another replica was cut. */
      async hearsAll() {
        const isSame = async () =>
          (await client.exists(cutMark)) === 1 && (await client.get(stock)) === (await redis.get(stock));
        await until(isSame, 'The replica that was not cut off has not heard of the sale.');
      },
      /** Makes it the Redis that both nodes reach from here on. Throws NotStagedError when it knows what it must not know. */
      async promote() {
        await client.call('REPLICAOF', 'NO', 'ONE');
        if (await client.exists(cutMark)) throw new NotStagedError('The replica has heard of what came after the cut.');
        await leadTo(url);
      },
    };
  }

  async function startAnother() {
    const start = ours(stack?.startReplica, 'This Redis knows no replication.');
    const line = await network.openLink(stack?.redis.url ?? '');
    undos.push(() => line.close());
    const { url, stop } = await start(line.url);
    undos.push(stop);
    return { url, line };
  }

  /** Leads lines from one server to another. Resolves when their node has asked it, over each, whether it is ready. */
  async function lead(links: Link[], from: string, to: string, otherwise: string) {
    undos.push(() => {
      for (const link of links) link.moveTo(from);
    });
    const greetings = links.map(greetingsOf);
    for (const link of links) link.moveTo(to);
    await until(async () => links.every((link, at) => greetingsOf(link) > (greetings[at] ?? 0)), otherwise);
  }

  /** Leads both nodes to another Redis. */
  async function leadTo(url: string) {
    const home = stack?.redis.url ?? '';
    onMove(url);
    await lead(nodes.map(linkOf), home, url, 'A node did not reach Redis.');
    for (const node of nodes) await until(() => isThere(node.redis()), `${node.name} did not reach Redis.`);
  }

  /**
   * Puts a server whose wall clock can be set ahead in the place of the last master of a bare majority, where masters vote, else of Redis.
   * Resolves when every node is there.
   */
  async function lendClock() {
    const { startClockServer } = ours(stack, 'No server of this run has a clock that can be set.');
    const { url, setAhead, stop } = await startClockServer();
    undos.push(stop);
    await network.loadScripts(url);
    const client = connectForNow(url);
    const master = Math.floor(masters.length / 2);
    const own = voters[master];
    if (own === undefined) await leadTo(url);
    else {
      undos.push(() => {
        voters[master] = own;
      });
      voters[master] = client;
      const links = nodes.flatMap((node) => linksToMasters(node, [master]));
      await lead(links, masters[master]?.url ?? '', url, 'A node did not reach the server whose clock can be set.');
    }
    return {
      /** Sets its clock ahead by so many milliseconds. */
      async jump(ms: number) {
        const aheadMs = async () => Number((await client.time())[0]) * 1_000 - clock.wallTime();
        setAhead(ms);
        // It counts in whole seconds here.
        await until(async () => (await aheadMs()) > ms - 2_000, 'The clock did not jump.');
      },
    };
  }

  /** Who has the vote of a master, as it says itself: an owner token, `nobody`, or `silent`. */
  async function voteAt(master: number): Promise<string> {
    const client = voters[master] as RedisClient;
    const [key = lockKey] = await keysOf(client, lockKey);
    const lease = await readLease(client, key);
    return lease === undefined ? 'silent' : (lease.owner ?? 'nobody');
  }

  /** Stops a master where it stands. */
  async function freezeMaster(master: number) {
    halt(ofMaster(master));
    if ((await voteAt(master)) !== 'silent') throw new NotStagedError(`Master ${master + 1} answers after SIGSTOP.`);
  }

  /** Kills a master and starts it again: it has forgotten every vote. Resolves with what tells whether a node has reached it since. */
  async function forgetMaster(master: number) {
    const name = `Master ${master + 1}`;
    const process = ofMaster(master);
    if (['nobody', 'silent'].includes(await voteAt(master))) throw new NotStagedError(`${name} had no vote to forget.`);
    const greetings = new Map(nodes.map((node) => [node, linksToMasters(node, [master]).map(greetingsOf)]));
    await (await crash(process)).comeBack();
    await until(async () => (await voteAt(master)) !== 'silent', `${name} did not come back.`);
    if ((await voteAt(master)) !== 'nobody') throw new NotStagedError(`${name} has forgotten nothing.`);

    return async function isReached(node: TargetNode): Promise<boolean> {
      const [link] = linksToMasters(node, [master]);
      if (!link?.counters.open || greetingsOf(link) <= (greetings.get(node)?.[0] ?? 0)) return false;
      // Its answer has been read by the time the node answers.
      await node.state();
      return true;
    };
  }

  /**
   * Ends the lease of whoever has the lock, as if its time were over: its keys end now. Resolves with `endless` where they have no end, and
   * with `free` where there is none.
   */
  async function endLease(): Promise<'ended' | 'endless' | 'free'> {
    const servers = backend === 'masters' ? voters : stack ? [connectForNow(stack.redis.url)] : [];
    let [hasEnded, isEndless] = [false, false];
    for (const server of servers) {
      const keys = await server.keys(`*${lockKey}*`);
      for (const key of keys) {
        // Named after the key of the lock, such as that of its tokens: it may stay for ever.
        const isFurther = [lockKey, ...keys].some((other) => other !== key && key.startsWith(other));
        if ((await server.pttl(key)) === -1) isEndless ||= !isFurther;
        else if ((await server.pexpire(key, 1)) === 1) hasEnded = true;
      }
    }
    if (isEndless) return 'endless';
    return hasEnded ? 'ended' : 'free';
  }

  return {
    deaths,
    isDead: (node: TargetNode) => revivals.has(node),
    pause: (node: TargetNode) => halt(ofNode(node)),
    kill,
    /** Starts a node that was killed. One that was not runs on. */
    revive: async (node: TargetNode) => revivals.get(node)?.(),
    runClock,
    holdOnItsWay,
    /** Holds the next such command of a node, and what its connection sends later, until it goes on. Its line stays. */
    holdNext: (node: TargetNode, isMeant: (command: Command) => boolean) => hold([linkOf(node)], isMeant),
    /** Those of Redis, or of these masters. */
    delayAnswers: (node: TargetNode, ms: number, wanted?: number[]) =>
      delay(wanted ? linksToMasters(node, wanted) : [linkOf(node)], ms),
    cutOff,
    /** Cuts the line between a node and Redis: no packet passes, and neither side is told. Returns what mends it. */
    cutLine: (node: TargetNode) => cut([linkOf(node)], 'silent'),
    /** Cuts the lines between a node and these masters. Returns what mends them. */
    cutMasters: (node: TargetNode, wanted: number[]) => cut(linksToMasters(node, wanted)),
    endLease,
    /** Mends every line of a node to Redis and the masters. */
    restore(node: TargetNode) {
      for (const link of [linkOf(node), ...(node.masterLinks ?? [])]) link.restore();
    },
    /** Redis itself was made to fail. */
    isRedisBroken: () => isRedisBroken,
    stopRedis: async () => halt(redisProcess()),
    killRedis: async () => crash(redisProcess()),
    startReplica,
    lendClock,
    /** Calls `see` with every command that a node sends to Redis, until what is returned is called. */
    watchCommands(node: TargetNode, see: (command: Command) => void): () => void {
      const end = linkOf(node).watch(see);
      undos.push(end);
      return end;
    },
    freezeMaster,
    forgetMaster,
    votes: () => Promise.all(voters.map((_, master) => voteAt(master))),
    /** Loads the project's scripts into each server. */
    async prepare() {
      for (const url of [stack?.redis.url, ...masters.map(({ url }) => url)]) if (url) await network.loadScripts(url);
    },
    /** Takes every vote of the masters away. */
    async clearVotes() {
      for (const voter of voters) await voter.del(...(await keysOf(voter, lockKey)));
      return true;
    },
    close() {
      for (const voter of voters) voter.disconnect();
    },
    /** Undoes something else with the rest. */
    undoLater(undo: () => unknown) {
      undos.push(undo);
    },
    /** Brings back all that was broken, the last first. Rejects when something could not be, after trying the rest. */
    undoAll: () => doEach(undos.splice(0).reverse()),
  };
}

/** Does one after the other. Rejects as the first did that failed, after trying the rest. */
export async function doEach(acts: (() => unknown)[]) {
  const errors: unknown[] = [];
  for (const act of acts) {
    try {
      await act();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/** What the run has of its own to break. Throws NotStagedError, with the sentence, when it has not. */
function ours<Part>(part: Part | undefined, otherwise: string): Part {
  if (part === undefined) throw new NotStagedError(otherwise);
  return part;
}

const isThere = (answer: Promise<unknown>) => answer.then(() => true).catch(() => false);

/** An external lock may have a key of another name, which has that of the lock in it. Further ones are longer, and come after it. */
async function keysOf(client: RedisClient, lockKey: string): Promise<string[]> {
  const found = await client.keys(`*${lockKey}*`).catch(() => []);
  return found.length > 0 ? found.toSorted((a, b) => a.length - b.length) : [lockKey];
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

/** How often a client of this link has asked, as each does first, whether its server is ready. */
const greetingsOf = ({ counters }: Link) => counters.commands.get('INFO') ?? 0;
