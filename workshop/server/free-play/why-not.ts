// Why a button would do nothing, as a sentence.

import { backendOfRow } from '../../../loadtest/staircase/lookup.ts';
import { hasLock, stockOf } from '../../../locks/index.ts';
import type { Act } from '../../page/protocol.ts';
import type { Button, Switches } from './button.ts';

/** Actions that a dead part can't carry out. */
const actsOnLiving: Act[] = ['sell', 'hold-sale', 'kill', 'stop', 'block', 'cut-replica'];
/** Actions that need a response from the part, which a paused part does not give. */
const actsOnAwake: Act[] = ['hold-sale', 'kill', 'block', 'cut-replica'];

/** In the current state of the stack. */
export function whyNotNow({ act, at }: Button, { isOn }: Switches, hasFailedOver: boolean): string | undefined {
  if (at === undefined) return undefined;
  if (at === 'redis' && hasFailedOver)
    return 'The nodes have used the replica since the failover: press “Undo everything” first.';
  if (isOn('kill', at) && act !== 'kill' && actsOnLiving.includes(act)) return `${at} has crashed: start it first.`;
  if (isOn('stop', at) && actsOnAwake.includes(act)) return `${at} is paused: resume it first.`;
  return undefined;
}

export function whyNoRelease(stage: string): string | undefined {
  const backend = backendOfRow(stage);
  if (stage === '1-in-process') return "The lock is in the node's memory: no command releases it.";
  if (!hasLock(stage)) return `${stage} has no lock to release.`;
  if (backend === 'redis' || backend === 'masters') return undefined;
  return `The lock of ${stage} is not in Redis, and the proxy can't read the traffic to its server.`;
}

export function whyNoWrite(stage: string): string | undefined {
  return stockOf(stage) === 'mysql' ? "The stock is in MySQL, and the proxy can't read that traffic." : undefined;
}

export function whyNoRedis(stage: string): string | undefined {
  const isInRedis = backendOfRow(stage) === 'redis' || stockOf(stage) === 'redis';
  return isInRedis ? undefined : `${stage} does not use Redis.`;
}
