// A renewal fails once, and Redis is back at once: the hold goes on.

import { formatDuration } from '../../evidence/numbers.ts';
import type { LockUnderTest } from '../lock-under-test.ts';
import { doesNotApply, Fault, holds, saidOf } from '../outcome.ts';
import { LEASE_MS } from '../staging.ts';

const LEASES = 3;

export const redisBack = ({ stage }: LockUnderTest) =>
  stage(async ({ process, pass, say }) => {
    const [p, q] = [process(), process()];
    const [a, b] = [p.holder('A', LEASE_MS), q.holder('B', LEASE_MS)];
    await a.enters();
    const renewal = p.hold();
    if ((await renewal.comes(LEASE_MS)) === undefined)
      return doesNotApply('It sends nothing while it holds: it does not renew.');
    p.cut('reset');
    await pass(1);
    p.restore();
    say('a renewal of A is rejected, and Redis is back');
    await pass(LEASES * LEASE_MS);
    const later = `${formatDuration(LEASES * LEASE_MS)} after one renewal had failed`;
    if (a.isLost()) throw new Fault(`\`lost\` had aborted ${later}, although Redis was back at once.`);
    if (!(await b.isKeptOut())) throw new Fault(`B entered ${later}, and A was still inside.`);
    const left = await a.leaves();
    if (left.how !== 'done') throw new Fault(`${later}, release() ${saidOf(left)}.`);
    return holds(`The lock was still held ${later}.`);
  });
