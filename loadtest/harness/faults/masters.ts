// Masters that stand still, or forget their votes.

import { NotStagedError } from '../../evidence/not-staged.ts';
import type { TargetNode } from '../target.ts';
import { greetingsOf, linksToMasters } from './connections.ts';
import type { Ground } from './ground.ts';
import type { Processes } from './processes.ts';
import type { Votes } from './votes.ts';

export function breakMasters({ nodes, until }: Ground, { stopMaster, killMaster }: Processes, { voteAt }: Votes) {
  /** Stops a master where it stands. */
  async function freezeMaster(master: number) {
    stopMaster(master);
    if ((await voteAt(master)) !== 'silent') throw new NotStagedError(`Master ${master + 1} answers after SIGSTOP.`);
  }

  /** Kills a master and starts it again: it has forgotten every vote. Resolves with what tells whether a node has reached it since. */
  async function forgetMaster(master: number) {
    const name = `Master ${master + 1}`;
    if (['nobody', 'silent'].includes(await voteAt(master))) throw new NotStagedError(`${name} had no vote to forget.`);
    const greetings = new Map(nodes.map((node) => [node, linksToMasters(node, [master]).map(greetingsOf)]));
    await (await killMaster(master)).comeBack();
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

  return { freezeMaster, forgetMaster };
}
