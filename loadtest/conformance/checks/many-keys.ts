// Twelve keys are held by one process at once: each is renewed, whichever is released first.

import { countOf } from '../../narration/numbers.ts';
import type { LockUnderTest } from '../lock-under-test.ts';
import { Fault, holds } from '../outcome.ts';

const KEYS = 12;
/** In milliseconds. A library that renews without a pause when a lease is shorter would renew all keys so. */
const LEASE_MS = 1_500;
const LEASES = 3;
/** When some are released the others are held for longer than a lease, in leases. */
const LEASES_AFTER = 1.5;

export const manyKeys = ({ stage }: LockUnderTest) =>
  stage(async ({ process, story, key }) => {
    const [p, q] = [process(), process()];
    const all = Array.from({ length: KEYS }, (_, at) => ({
      ofKey: `${key}:${at + 1}`,
      a: p.holder(`A of key ${at + 1}`, LEASE_MS, `${key}:${at + 1}`),
    }));
    for (const { a } of all) await a.enters();
    const stay = async (held: typeof all, leases: number) => {
      await story.pass(leases * LEASE_MS);
      const rivals = held.map(({ ofKey }) => q.holder(`B of ${ofKey}`, LEASE_MS, ofKey));
      const keptOut = await Promise.all(rivals.map((b) => b.isKeptOut()));
      const entered = keptOut.filter((isOut) => !isOut).length;
      if (entered > 0)
        throw new Fault(
          `One process held ${countOf(held.length, 'key')} for ${leases} leases: ${entered} were entered.`,
        );
    };
    const leave = async (held: typeof all) => {
      for (const { a } of held) await a.mustLeave(`One process held ${KEYS} keys:`);
    };
    await stay(all, LEASES);
    const isOdd = (at: number) => at % 2 === 1;
    await leave(all.filter((_, at) => isOdd(at)).toReversed());
    const others = all.filter((_, at) => !isOdd(at));
    await stay(others, LEASES_AFTER);
    await leave(others);
    return holds(`One process held ${KEYS} keys at once, and nobody entered any of them.`);
  });
