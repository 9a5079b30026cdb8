// All faults that a drill can cause in a stack, and their undoing.

import { breakClocks } from './clocks.ts';
import { breakConnections } from './connections.ts';
import { type BrokenTarget, createGround, type FaultsOptions } from './ground.ts';
import { breakMasters } from './masters.ts';
import { breakMessages } from './messages.ts';
import { breakProcesses } from './processes.ts';
import { breakReplicas } from './replicas.ts';

/**
 * Each can be undone, and `undoAll` undoes what has not been. Each throws NotStagedError when it has no effect. A master is named by its
 * place in the stack, from 0.
 */
export function createFaults(target: BrokenTarget, options: FaultsOptions) {
  const ground = createGround(target, options);
  const processes = breakProcesses(ground, options);
  const connections = breakConnections(ground, options);
  const messages = breakMessages(ground, connections);
  const masters = breakMasters(ground, processes);
  const clocks = breakClocks(ground, connections, masters);

  return {
    deaths: processes.deaths,
    isDead: processes.isDead,
    pause: processes.pause,
    kill: processes.kill,
    revive: processes.revive,
    isRedisBroken: processes.isRedisBroken,
    stopRedis: processes.stopRedis,
    killRedis: processes.killRedis,
    lockServers: ground.lockServers.length,
    killLockServer: processes.killLockServer,
    cutOff: connections.cutOff,
    cutLine: connections.cutLine,
    cutMasters: connections.cutMasters,
    delayAnswers: connections.delayAnswers,
    restore: connections.restore,
    holdNext: messages.holdNext,
    holdOnItsWay: messages.holdOnItsWay,
    watchCommands: messages.watchCommands,
    startReplica: breakReplicas(ground, connections).startReplica,
    freezeMaster: masters.freezeMaster,
    forgetMaster: masters.forgetMaster,
    runClock: clocks.runClock,
    lendClock: clocks.lendClock,
    votes: masters.votes,
    clearVotes: masters.clearVotes,
    endLease: masters.endLease,
    prepare: masters.prepare,
    undoLater: ground.undoLater,
    undoAll: ground.undoAll,
    close: masters.close,
  };
}
