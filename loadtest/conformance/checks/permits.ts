// A semaphore: as many are inside as there are permits, and one that died gives its permit back, whoever else is inside.

import type { LockUnderTest } from '../lock-under-test.ts';
import { doesNotApply, holds } from '../outcome.ts';
import { LEASE_MS } from '../staging.ts';
import { STEP_LIMIT_MS } from '../story.ts';
import { TAKEOVER_LEASES } from './death.ts';

const PERMITS = 3;

export async function permits({ promises, stage }: LockUnderTest) {
  if (!promises.permits) return doesNotApply('It does not say that it is a semaphore.');
  await stage(async ({ process, story }) => {
    const [p, q] = [process({ permits: PERMITS }), process({ permits: PERMITS })];
    const [a, b, c] = [p.holder('A'), p.holder('B'), q.holder('C')];
    const [d, e] = [q.holder('D'), p.holder('E')];
    for (const each of [a, b, c]) await each.mustEnter('A permit was left:', STEP_LIMIT_MS);
    story.say('A, B and C are inside, with three permits');
    await d.mustStayOut('Three were inside, with three permits, and D entered.');
    await d.leaves();
    await e.mustStayOut('D, which had no permit, released, and E entered as the fourth.');
    const waiting = d.acquire();
    await a.mustLeave('Three were inside, and');
    await d.mustEnter('A had given its permit back:', STEP_LIMIT_MS, waiting);
    await e.mustStayOut('One permit was given back, and two entered.');
  });
  await stage(async ({ process, story }) => {
    const [p, victim, q] = [PERMITS, PERMITS, PERMITS].map((permits) => process({ permits }));
    if (!p || !victim || !q) throw new Error('There are three processes.');
    const [a, dead] = [p.holder('A', LEASE_MS), victim.holder('B', LEASE_MS)];
    await a.enters();
    await dead.enters();
    victim.kill();
    story.say('the process of B is killed, that of A lives on');
    await q.holder('C', LEASE_MS).enters();
    const heir = q.holder('D', LEASE_MS);
    await heir.mustEnter('B was dead, and A and C inside:', TAKEOVER_LEASES * LEASE_MS);
    if (promises.renewal) await q.holder('E').mustStayOut('A, C and D were inside, with three permits, and E entered.');
  });
  return holds('As many are inside as there are permits; that of a dead holder comes back when its lease ends.');
}
