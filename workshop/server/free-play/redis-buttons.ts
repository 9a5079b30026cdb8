// The buttons of Redis, and that of a rush.

import { NotStagedError } from '../../../loadtest/evidence/not-staged.ts';
import { deed } from '../../../loadtest/narration/faults.ts';
import { told } from '../../../loadtest/narration/steps.ts';
import type { Button, Played } from './button.ts';
import { RUSH } from './sales.ts';
import { whyNoRedis } from './why-not.ts';

export const rushButton = ({ sales }: Played): Button => ({
  act: 'rush',
  says: told('rush came', { buyers: RUSH }),
  press: () => void sales.rush(),
});

export const buttonsOfRedis = ({ target, stage, testBed }: Played): Button[] => [
  {
    act: 'stop',
    at: 'redis',
    fault: deed('Redis stopped'),
    says: told('Redis paused'),
    saysUndone: told('Redis resumed'),
    whyNot: target.lacks['redis process'] ?? whyNoRedis(stage),
    press: async () => (await testBed.faults.stopRedis()).comeBack,
  },
  {
    act: 'kill',
    at: 'redis',
    fault: deed('Redis is killed'),
    says: told('Redis killed'),
    saysUndone: told('Redis restarted'),
    whyNot: target.lacks['redis process'] ?? whyNoRedis(stage),
    press: async () => (await testBed.faults.killRedis()).comeBack,
  },
];

/** A replica is cut off, and then takes over: what the first Redis was told meanwhile is lost. */
export function createFailover({ target, stage, testBed }: Played) {
  const whyNot = target.lacks.replication ?? whyNoRedis(stage);
  /** The one that has been cut off. */
  let replica: Awaited<ReturnType<typeof testBed.faults.startReplica>> | undefined;
  let isOver = false;
  const cutReplica: Button = {
    act: 'cut-replica',
    at: 'redis',
    fault: deed('replica cut off'),
    says: told('replica cut off'),
    whyNot,
    async press() {
      replica = await testBed.faults.startReplica();
      await replica.cutLine();
      return undefined;
    },
  };
  const failOver: Button = {
    act: 'fail-over',
    at: 'redis',
    fault: deed('failover'),
    says: told('replica took over'),
    whyNot,
    async press() {
      if (replica === undefined)
        throw new NotStagedError('Redis has no replica yet: give it one, and cut it off, first.');
      await replica.promote();
      replica = undefined;
      isOver = true;
      return undefined;
    },
  };
  return {
    buttons: [cutReplica, failOver],
    /** The nodes are led to the replica, and the first Redis has nothing to do any more. */
    isOver: () => isOver,
    /** The nodes are led back. */
    forget() {
      replica = undefined;
      isOver = false;
    },
  };
}
