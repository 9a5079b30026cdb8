// Why a button would do nothing, as a sentence.

import { backendOfRow } from '../../../loadtest/staircase/lookup.ts';
import { hasLock, stockOf } from '../../../locks/index.ts';
import type { Act } from '../../page/protocol.ts';
import type { Button, Switches } from './button.ts';

/** What can't be done to a part that is dead. */
const actsOnLiving: Act[] = ['sell', 'hold-sale', 'kill', 'stop', 'block', 'cut-replica'];
/** What takes an answer of the part: one that stands still gives none. */
const actsOnAwake: Act[] = ['hold-sale', 'kill', 'block', 'cut-replica'];

/** As the stack is now. */
export function whyNotNow({ act, at }: Button, { isOn }: Switches, hasFailedOver: boolean): string | undefined {
  if (at === undefined) return undefined;
  if (at === 'redis' && hasFailedOver) return 'The nodes use the replica since the failover: undo all leads them back.';
  if (isOn('kill', at) && act !== 'kill' && actsOnLiving.includes(act)) return `${at} is dead: start it first.`;
  if (isOn('stop', at) && actsOnAwake.includes(act)) return `${at} stands still: let it go on first.`;
  return undefined;
}

export function whyNoRelease(stage: string): string | undefined {
  const backend = backendOfRow(stage);
  if (stage === '1-in-process') return 'The lock is in the node itself: no command releases it.';
  if (!hasLock(stage)) return `Under ${stage} there is no lock to release.`;
  if (backend === 'redis' || backend === 'masters') return undefined;
  return `The lock of ${stage} is not in Redis, and what passes to its server can't be read.`;
}

export function whyNoWrite(stage: string): string | undefined {
  return stockOf(stage) === 'mysql' ? "The stock is in MySQL, and what passes to it can't be read." : undefined;
}

export function whyNoRedis(stage: string): string | undefined {
  const isInRedis = backendOfRow(stage) === 'redis' || stockOf(stage) === 'redis';
  return isInRedis ? undefined : `Under ${stage} nothing is in Redis.`;
}
