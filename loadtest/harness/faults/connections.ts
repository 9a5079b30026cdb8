// Faults of the connections between nodes and servers: cut, delayed, or moved to another server.

import type { Link } from '../../../stack/proxy/link.ts';
import { NotStagedError } from '../../evidence/not-staged.ts';
import type { TargetNode } from '../target.ts';
import { type FaultsOptions, type Ground, isThere, ours } from './ground.ts';

/** What a node reaches Redis through. */
export const linkOf = ({ name, link }: TargetNode): Link => ours(link, `${name} reaches Redis without a fault proxy.`);

export const linksToMasters = ({ name, masterLinks }: TargetNode, wanted: number[]): Link[] =>
  wanted.map((at) => ours(masterLinks?.[at], `${name} reaches master ${at + 1} without a fault proxy.`));

/** How often a client of this link has asked, as each does first, whether its server is ready. */
export const greetingsOf = ({ counters }: Link) => counters.commands.get('INFO') ?? 0;

export type Connections = ReturnType<typeof breakConnections>;

export function breakConnections(ground: Ground, { onMove = () => {} }: FaultsOptions) {
  const { nodes, stack, clock, network, wire, backend, masters, until, undoLater } = ground;

  /** What a node reaches the servers of the lock through. */
  function linksToLock(node: TargetNode): Link[] {
    if (backend === 'redis') return [linkOf(node)];
    if (backend !== 'masters')
      return ours(node.backendLinks?.[backend], `${node.name} reaches its lock without a fault proxy.`);
    return linksToMasters(node, [...masters.keys()]);
  }

  /** Cuts these connections until the returned function restores them. */
  function cut(links: Link[], how?: Parameters<Link['cut']>[0]): () => void {
    const restore = () => {
      for (const link of links) link.restore();
    };
    undoLater(restore);
    for (const link of links) link.cut(how);
    return restore;
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

  /** Passes every answer on these lines on so much later, in milliseconds, until it is over. */
  function delay(links: Link[], ms: number) {
    const delayBy = (late: number) => {
      for (const link of links) link.delayReplies(late);
    };
    undoLater(() => delayBy(0));
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
    undoLater(undo);
    return {
      restore() {
        const isWhole = hasPassed;
        undo();
        if (isWhole) throw new NotStagedError(`${node.name} could still reach the servers of its lock.`);
      },
    };
  }

  /** Leads lines from one server to another. Resolves when their node has asked it, over each, whether it is ready. */
  async function lead(links: Link[], from: string, to: string, otherwise: string) {
    undoLater(() => {
      for (const link of links) link.moveTo(from);
    });
    const greetings = links.map(greetingsOf);
    for (const link of links) link.moveTo(to);
    // A service of which nothing is known comes there when it is asked for something.
    if (wire.nodesTell)
      await until(async () => links.every((link, at) => greetingsOf(link) > (greetings[at] ?? 0)), otherwise);
  }

  /** Leads both nodes to another Redis. */
  async function leadTo(url: string) {
    onMove(url);
    await lead(nodes.map(linkOf), stack?.redis.url ?? '', url, 'A node could not reach Redis.');
    for (const node of nodes) await until(() => isThere(node.redis()), `${node.name} could not reach Redis.`);
  }

  /** Resolves when both nodes have found the server that took the place of Redis: they are led nowhere. */
  async function untilFound(url: string) {
    onMove(url);
    for (const node of nodes)
      await until(() => isThere(node.stock()), `${node.name} did not connect to the new primary.`);
  }

  return {
    cut,
    lead,
    leadTo,
    untilFound,
    cutOff,
    /** Cuts the connection between a node and Redis: no packet passes, and neither side is told. Returns what restores it. */
    cutLine: (node: TargetNode) => cut([linkOf(node)], 'silent'),
    /** Cuts the connections between a node and these masters. Returns what restores them. */
    cutMasters: (node: TargetNode, wanted: number[]) => cut(linksToMasters(node, wanted)),
    /** Those of Redis, or of these masters. */
    delayAnswers: (node: TargetNode, ms: number, wanted?: number[]) =>
      delay(wanted ? linksToMasters(node, wanted) : [linkOf(node)], ms),
    /** Restores every connection of a node to Redis and the masters. */
    restore(node: TargetNode) {
      for (const link of [linkOf(node), ...(node.masterLinks ?? [])]) link.restore();
    },
  };
}
