// Drills on servers that are not as usual: an embedded Valkey, a Redis that lacks commands, a replica that hears what it should not.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scenario } from '../../../../loadtest/scenarios/index.ts';
import { lackOfDeleting, lacksDeleting } from '../../../lacks-deleting.ts';
import { ownTargets } from '../../../loadtest/drills/own-targets.ts';
import { makeBarePath } from '../../../scripts/command-under-test.ts';
import { expectAllSold, runLoad } from '../../../services/inventory/rush-at.ts';

const amnesia = scenario('amnesia');
const failover = scenario('failover');
const lateRelease = scenario('late-release');
const redisOutage = scenario('redis-outage');

describe('on the embedded Valkey', () => {
  // Nothing but Node is on the PATH.
  const bare = makeBarePath();
  const { PATH } = process.env;
  beforeAll(() => {
    process.env['PATH'] = bare.path;
  });
  afterAll(() => {
    process.env['PATH'] = PATH;
    bare.remove();
  });
  const { run, target } = ownTargets();

  test('late-release under delete-if-equal: the release is seen, and frees nobody else', async () => {
    expect(await run(lateRelease, '5-owner-check')).toMatchObject({ verdict: 'fail' });
    expect(await run(lateRelease, 'delete-if-equal')).toMatchObject({ verdict: 'pass', figures: { overlaps: 0 } });
    expectAllSold(await runLoad(target(), 'delete-if-equal'));
  });

  test('redis-outage: Redis stands still, and is not killed, since it keeps no data over a restart', async () => {
    const { verdict, timeline } = await run(redisOutage, '8-auto-renew');
    expect({ verdict, broken: timeline?.faults.map(({ label }) => label) }).toEqual({
      verdict: 'pass',
      broken: ['Redis was paused (SIGSTOP)'],
    });
  });

  test('failover: not applicable, and the reason says what to install', async () => {
    const why = /embedded Valkey does not support replication.*redis-server/;
    const expected = { verdict: 'not-applicable', reasons: [expect.stringMatching(why)] };
    expect(await run(failover, '8-auto-renew')).toMatchObject(expected);
  });
});

describe('on native servers', () => {
  const { run, target } = ownTargets([], { hasReplica: true });

  test('a Redis that lacks the commands of a lock carries no drill under it, and says why', async ({ skip }) => {
    skip(!(await lacksDeleting(target().stack?.redis.url ?? '')));
    const notApplicable = { verdict: 'not-applicable', reasons: [expect.stringMatching(lackOfDeleting)] };

    expect(await run(lateRelease, 'delete-if-equal')).toMatchObject(notApplicable);
    // There, too, where it would have nothing to break.
    expect(await run(amnesia, 'delete-if-equal')).toMatchObject(notApplicable);
    expect(await runLoad(target(), 'delete-if-equal')).toMatchObject(notApplicable);
  });
});
