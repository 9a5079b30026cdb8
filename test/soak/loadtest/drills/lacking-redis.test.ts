import { expect, test } from 'vitest';
import { amnesia } from '../../../../loadtest/drills/amnesia.ts';
import { lateRelease } from '../../../../loadtest/drills/late-release.ts';
import { lackOfDeleting, lacksDeleting } from '../../../lacks-deleting.ts';
import { ownTargets } from '../../../loadtest/drills/own-targets.ts';
import { runLoad } from '../../../services/inventory/rush-at.ts';

const { run, use } = ownTargets(1);

test('a Redis that lacks the commands of a lock carries no drill under it, and says why', async ({ skip }) => {
  skip(!(await use(async ({ stack }) => lacksDeleting(stack?.redis.url ?? ''))));
  const notApplicable = { verdict: 'not-applicable', reasons: [expect.stringMatching(lackOfDeleting)] };

  expect(await run(lateRelease, 'delete-if-equal')).toMatchObject(notApplicable);
  // There, too, where it would have nothing to break.
  expect(await run(amnesia, 'delete-if-equal')).toMatchObject(notApplicable);
  await use(async (target) => expect(await runLoad(target, 'delete-if-equal')).toMatchObject(notApplicable));
});
