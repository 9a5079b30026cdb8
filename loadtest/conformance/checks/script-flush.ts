// The server forgets its scripts, then everything else: the lock works on.

import type { LockUnderTest } from '../lock-under-test.ts';
import { holds } from '../outcome.ts';
import { LEASE_MS } from '../staging.ts';
import { STEP_LIMIT_MS } from '../story.ts';

const AFTER = 'After SCRIPT FLUSH';

export const scriptFlush = ({ survey, stage }: LockUnderTest) =>
  stage(async ({ two, story, servers }) => {
    const { q, a, b } = two(LEASE_MS);
    const c = q.holder('C', LEASE_MS);
    servers.flush('SCRIPT');
    await a.mustEnter(AFTER);
    if (survey.renewal.length > 0) {
      // It has renewed once by now.
      await story.pass(LEASE_MS / 2);
      servers.flush('SCRIPT');
      await story.pass(2 * LEASE_MS);
      await b.mustStayOut(`${AFTER} no lease was renewed: B entered.`);
    }
    const waiting = b.acquire();
    await story.pass(LEASE_MS / 4);
    servers.flush('SCRIPT');
    await a.mustLeave(AFTER);
    await b.mustEnter(AFTER, STEP_LIMIT_MS, waiting);
    await b.mustLeave(AFTER);
    servers.flush('ALL');
    await c.mustEnter('When the server had started again empty');
    await c.mustLeave('When the server had started again empty');
    return holds('It works on when the server has forgotten its scripts.');
  });
