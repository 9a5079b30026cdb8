// The buttons of Redis, and the button of a rush.

import { NotStagedError } from '../../../loadtest/evidence/not-staged.ts';
import { lackIn } from '../../../loadtest/harness/target.ts';
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

export function buttonsOfRedis({ target, stage, testBed }: Played): Button[] {
  const own = { at: 'redis', whyNot: lackIn(target, 'redis process') ?? whyNoRedis(stage) };
  return [
    {
      ...own,
      act: 'stop',
      fault: deed('Redis stopped'),
      says: told('Redis paused'),
      saysUndone: told('Redis resumed'),
      press: async () => (await testBed.faults.stopRedis()).comeBack,
    },
    {
      ...own,
      act: 'kill',
      fault: deed('Redis is killed'),
      says: told('Redis killed'),
      saysUndone: told('Redis restarted'),
      press: async () => (await testBed.faults.killRedis()).comeBack,
    },
  ];
}

/** A replica is cut off, then promoted: writes that the first Redis got meanwhile are lost. */
export function createFailover({ target, stage, testBed }: Played) {
  const own = { at: 'redis', whyNot: lackIn(target, 'replication') ?? whyNoRedis(stage) };
  /** The replica that was cut off. */
  let replica: Awaited<ReturnType<typeof testBed.faults.startReplica>> | undefined;
  let isOver = false;
  const cutReplica: Button = {
    ...own,
    act: 'cut-replica',
    fault: deed('replica cut off'),
    says: told('replica cut off'),
    async press() {
      replica = await testBed.faults.startReplica();
      await replica.cutLine();
      return undefined;
    },
  };
  const failOver: Button = {
    ...own,
    act: 'fail-over',
    fault: deed('failover'),
    says: told('replica took over'),
    async press() {
      if (replica === undefined)
        throw new NotStagedError('No replica has been cut off yet: press “Cut off a replica” first.');
      await replica.promote();
      replica = undefined;
      isOver = true;
      return undefined;
    },
  };
  return {
    buttons: [cutReplica, failOver],
    /** True once the nodes use the replica and no longer the first Redis. */
    isOver: () => isOver,
    /** Call it when the nodes use the first Redis again. */
    forget() {
      replica = undefined;
      isOver = false;
    },
  };
}
