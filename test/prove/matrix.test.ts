import { describe, expect, test } from 'vitest';
import { expectedVerdict } from '../../loadtest/prove/expected.ts';
import { isInBuckets, isSemaphore } from '../../locks/index.ts';
import { replay } from '../../prove/replay.ts';
import { writeModule } from '../loadtest/grade/modules.ts';
import { fileOf, open, scopeNamed, searchIn } from './own-locks.ts';

/**
 * The cells that are searched here. The others take long (test/soak/prove has those), or are the cell of another row: 2-recursive-retry
 * is 3-spin without its loop, and a lock that waits or gives up in another way fails and holds as stage 7 or 8 does.
 */
const often = [
  'plain',
  'lost-wakeup',
  'script-cache-empty',
  'crashed-holder',
  'late-release',
  'nested-call',
  'nested-object',
];
const ofStock = ['paused-process', 'late-write', 'crossed-write', 'failover', 'client-gone'];
const ofRenewal = [...often, 'nested-long-sale', 'long-sale', ...ofStock];
const ofStages = ['slow-holder', ...ofRenewal];
const searched: Record<string, string[]> = {
  '0-none': ofStages,
  '1-in-process': ['plain'],
  '2-recursive-retry': ['plain', 'crashed-holder', 'nested-call', 'failover', 'client-gone'],
  '3-spin': [...ofStages, 'zombie-renewal'],
  '4-ttl': ofStages,
  '5-owner-check': ofStages,
  '6-lua-release': ofStages,
  '7-reentrant': ofRenewal,
  '8-auto-renew': ofRenewal,
  'delete-if-equal': ['plain', 'late-release'],
  bounded: ['plain', 'nested-call', 'nested-object', 'nested-long-sale'],
  'read-write': ['plain', 'crashed-holder', 'nested-call', 'long-sale', 'early-read'],
  'fenced-writes': [...often, ...ofStock],
  fenced: ofRenewal,
  buckets: ['plain', 'lost-wakeup', 'crashed-holder', 'failover', 'client-gone'],
  multi: ['crossed-skus'],
  blocking: ['plain', 'lost-wakeup', 'crashed-holder', 'nested-call'],
  cohort: ['plain', 'lost-wakeup', 'crashed-holder', 'nested-call'],
  combine: ['plain', 'lost-wakeup', 'crashed-holder', 'late-write', 'failover'],
  fair: ['failover'],
  semaphore: ['plain', 'crashed-holder', 'late-release', 'three-clerks', 'fourth-clerk'],
};
const cells = Object.entries(searched).flatMap(([stage, scopes]) =>
  scopes.flatMap((scope) => {
    const expected = expectedVerdict(stage, scope);
    return expected ? [[stage, scope, expected] as const] : [];
  }),
);

/** How many sales a process makes, where one would show nothing: at once. */
const atOnce: Record<string, number> = { combine: 2 };

/** How a semaphore sells is left out. */
const permits = writeModule('permits.ts', `export { createLock } from '${fileOf('semaphore')}';`);
const fileSearched = (stage: string) => (isSemaphore(stage) ? permits : fileOf(stage));

describe('matrix', () => {
  test.each(cells)('%s, %s: it %s', async (stage, scope, expected) => {
    const sales = atOnce[stage] ?? 1;
    const place = { isInBuckets: isInBuckets(stage) };
    const { verdict, cut, counterexample, reason } = await searchIn(fileSearched(stage), scope, { sales, ...place });

    expect({ verdict, cut, reason }).toEqual({ verdict: expected, cut: 0, reason });
    const processes = scopeNamed(scope).processes ?? 2;
    const size = { sales, processes, masters: 0, ...place };
    const options = { openLock: await open(fileSearched(stage)), scope: scopeNamed(scope), ...size };
    if (counterexample) expect(await replay(counterexample, options)).toBeUndefined();
  });
});
