// Faults of processes, of nodes and of Redis: they are paused, or die.

import type { Breakable } from '../../../stack/own-parts.ts';
import { NotStagedError } from '../../evidence/not-staged.ts';
import type { TargetNode } from '../target.ts';
import { type FaultsOptions, type Ground, isThere, ours } from './ground.ts';

const processOf = (name: string, process: Breakable | undefined) =>
  ours(process, `${name} is not a process of this run.`);

export type Processes = ReturnType<typeof breakProcesses>;

export function breakProcesses(
  { stack, lockServers, clock, undoLater }: Ground,
  { beforeKill = async () => {} }: FaultsOptions,
) {
  /** Each death of a process of a node so far, on the shared clock. */
  const deaths: { node: string; at: number }[] = [];
  /** How each dead node is started again. */
  const revivals = new Map<TargetNode, () => Promise<unknown>>();
  let isRedisBroken = false;

  const ofNode = ({ name, process }: TargetNode) => processOf(name, process);
  const ofMaster = (master: number) => processOf(`Master ${master + 1}`, stack?.masters[master]?.process);
  /** It is about to fail. */
  function ofRedis() {
    isRedisBroken = true;
    return processOf('Redis', stack?.redisProcess);
  }

  /** Stops a process where it stands until it comes back. */
  function halt(process: Breakable) {
    const comeBack = () => process.signal('SIGCONT');
    undoLater(comeBack);
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
    undoLater(comeBack);
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
    if (await isThere(node.state())) throw new NotStagedError(`${node.name} still responds after it was killed.`);
    deaths.push({ node: node.name, at });
    return at;
  }

  return {
    deaths,
    isDead: (node: TargetNode) => revivals.has(node),
    pause: (node: TargetNode) => halt(ofNode(node)),
    kill,
    /** Starts a node that was killed. One that was not runs on. */
    revive: async (node: TargetNode) => revivals.get(node)?.(),
    /** Redis itself was made to fail. */
    isRedisBroken: () => isRedisBroken,
    stopRedis: async () => halt(ofRedis()),
    killRedis: async () => crash(ofRedis()),
    killLockServer: async (server: number) => crash(processOf(`Server ${server + 1} of the lock`, lockServers[server])),
    stopMaster: (master: number) => halt(ofMaster(master)),
    killMaster: async (master: number) => crash(ofMaster(master)),
  };
}
