// Faults of clocks: they run slow, or jump.

import type { TargetNode } from '../target.ts';
import { type Connections, linksToMasters } from './connections.ts';
import { type Ground, ours } from './ground.ts';
import type { Masters } from './masters.ts';

export function breakClocks(ground: Ground, { lead, leadTo }: Connections, { replaceVoter }: Masters) {
  const { nodes, stack, clock, network, masters, connectForNow, until, undoLater } = ground;

  /** Has the clock of a node run so many times as fast as that of its machine. Returns what reads it, in milliseconds. */
  function runClock(node: TargetNode, rate: number): () => number {
    const setRate = ours(node.runClock, `The clock of ${node.name} can't be set.`);
    undoLater(() => setRate(1));
    return setRate(rate);
  }

  /**
   * Puts a server whose wall clock can be set ahead in the place of the last master of a bare majority, where masters vote, else of Redis.
   * Resolves when every node is there.
   */
  async function lendClock() {
    const { startClockServer } = ours(stack, 'No server of this run has a clock that can be set.');
    const { url, setAhead, stop } = await startClockServer();
    undoLater(stop);
    await network.loadScripts(url);
    const client = connectForNow(url);
    const master = Math.floor(masters.length / 2);
    if (masters.length === 0) await leadTo(url);
    else {
      replaceVoter(master, client);
      const links = nodes.flatMap((node) => linksToMasters(node, [master]));
      await lead(links, masters[master]?.url ?? '', url, 'A node could not reach the server whose clock can be set.');
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

  return { runClock, lendClock };
}
