// Commands on the way from a node to its servers: seen, and held.

import type { Command, Link } from '../../../stack/proxy/link.ts';
import { NotStagedError } from '../../evidence/not-staged.ts';
import type { TargetNode } from '../target.ts';
import { type Connections, linkOf } from './connections.ts';
import { type Ground, STAGE_LIMIT_MS } from './ground.ts';

export function breakMessages({ clock, wire, backend, undoLater }: Ground, { cut }: Connections) {
  /** Holds the next such command on each line, and what its connection sends later, until it goes on. Lines stay. */
  function hold(links: Link[], isMeant: (command: Command) => boolean) {
    const all = links.map((link) => link.holdNext(isMeant));
    undoLater(() => {
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
        if (isThere && haveReached.includes(false)) throw new NotStagedError('A held command never reached Redis.');
      },
    };
  }

  /**
   * Lets `act` make a node send a command, which its link holds. Resolves when it has come, with the line between the node and its link
   * cut, so that the node can't send another. A release that goes to several masters is held on its way to each of them.
   */
  async function holdOnItsWay(node: TargetNode, isMeant: (command: Command) => boolean, act: () => Promise<unknown>) {
    const links = isMeant === wire.isRelease && backend === 'masters' ? (node.masterLinks ?? []) : [linkOf(node)];
    const held = hold(links, isMeant);
    await act();
    await Promise.race([held.arrived, clock.sleep(STAGE_LIMIT_MS, undefined, { ref: false })]);
    if (!held.isThere()) {
      throw new NotStagedError(`The fault proxy of ${node.name} never saw the command.`, { nothingToBreak: true });
    }
    cut(links);
    return held;
  }

  return {
    holdOnItsWay,
    /** Holds the next such command of a node, and what its connection sends later, until it goes on. Its line stays. */
    holdNext: (node: TargetNode, isMeant: (command: Command) => boolean) => hold([linkOf(node)], isMeant),
    /** Calls `see` with every command that a node sends to Redis, until what is returned is called. */
    watchCommands(node: TargetNode, see: (command: Command) => void): () => void {
      const end = linkOf(node).watch(see);
      undoLater(end);
      return end;
    },
  };
}
