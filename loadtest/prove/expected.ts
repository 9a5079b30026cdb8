// What is expected of each lock in each scope: the search agrees, or the run ends with 1.

import { readTable } from '../staircase/table.ts';
import { provableLocks, scopeNames } from './plan.ts';

// ✔ no order of events violates it, ✘ one does, · is left to the search, – is not looked at.
const table = `
                   plain
                   │  lost-wakeup
                   │  │  script-cache-empty
                   │  │  │  crashed-holder
                   │  │  │  │  slow-holder
                   │  │  │  │  │  late-release
                   │  │  │  │  │  │  nested-call
                   │  │  │  │  │  │  │  nested-object
                   │  │  │  │  │  │  │  │  nested-long-sale
                   │  │  │  │  │  │  │  │  │  long-sale
                   │  │  │  │  │  │  │  │  │  │  paused-process
                   │  │  │  │  │  │  │  │  │  │  │  late-write
                   │  │  │  │  │  │  │  │  │  │  │  │  crossed-write
                   │  │  │  │  │  │  │  │  │  │  │  │  │  early-read
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  failover
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  client-gone
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  zombie-renewal
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  crossed-skus
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  put-back
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  frozen-master
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  late-votes
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  amnesia
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  clock-jump
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  three-clerks
                   │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  │  fourth-clerk
0-none             ✘  ✔  ✘  ✔  –  –  ✘  ✘  ✘  ✘  ✘  ✘  ✘  –  ✘  –  ✔  –  –  –  –  –  –  –  –
1-in-process       ✘  ✔  ✘  ✔  –  –  ✘  ✘  ✘  ✘  ✘  ✘  ✘  –  ✘  ✔  ✔  –  –  –  –  –  –  –  –
2-recursive-retry  ✔  ✔  ✔  ✘  ✔  ✔  ✘  ✘  ✘  ✔  ✔  ✔  ✔  –  ✘  ✔  ✘  –  –  –  –  –  –  –  –
3-spin             ✔  ✔  ✔  ✘  ✔  ✔  ✘  ✘  ✘  ✔  ✔  ✔  ✔  –  ✘  ✔  ✘  –  –  –  –  –  –  –  –
4-ttl              ✔  ✔  ✔  ✔  ✘  ✘  ✘  ✘  ✘  ✘  ✘  ✘  ✘  –  ✘  ✔  ✔  –  –  –  –  –  –  –  –
5-owner-check      ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✘  ✘  ✘  ✘  ✘  ✘  –  ✘  ✔  ✔  –  –  –  –  –  –  –  –
6-lua-release      ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✘  ✘  ✘  ✘  ✘  –  ✘  ✔  ✔  –  –  –  –  –  –  –  –
7-reentrant        ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✘  ✘  ✘  –  ✘  ✔  ✔  –  –  –  –  –  –  –  –
8-auto-renew       ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✘  –  ✘  ✔  ✔  –  –  –  –  –  –  –  –

delete-if-equal    ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✘  ✘  ✘  ✘  ✘  –  ✘  ✔  ✔  –  –  –  –  –  –  –  –
bounded            ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✘  ✘  ✘  –  ✘  ✔  ✔  –  –  –  –  –  –  –  –
blocking           ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✘  –  ✘  ✔  ·  –  –  –  –  –  –  –  –
fair               ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✘  –  ✘  ✔  ·  –  –  –  –  –  –  –  –
cohort             ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✘  –  ✘  ✔  ·  –  –  –  –  –  –  –  –
combine            ✔  ✔  ✔  ✔  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  –  ✘  ✔  ·  –  –  –  –  –  –  –  –
read-write         ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✘  ✘  ✔  ✘  ✔  ✔  –  –  –  –  –  –  –  –
fenced-writes      ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✘  ✔  ✘  –  ✘  ✔  ✔  –  –  –  –  –  –  –  –
fenced             ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  ✘  ✔  ✔  –  –  –  –  –  –  –  –
buckets            ✔  ✔  ✔  ✔  ✔  ✔  –  –  –  ✔  ✔  ✔  ✔  –  ✘  ✔  ·  –  ✔  –  –  –  –  –  –
multi              ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  ✔  –  ✘  ✔  ✔  ✔  –  –  –  –  –  –  –
redlock            ✔  –  –  ✔  ✔  –  ✔  ✔  –  ✔  ✔  ✘  ✘  –  –  –  –  –  –  ✔  ✔  ✘  ✘  –  –
semaphore          ✔  ✔  ✔  ✔  ✔  ✔  –  –  –  ✔  –  –  –  –  –  ✔  ·  –  –  –  –  –  –  ✔  ✘
`;

const { rows } = readTable(table, {
  columns: scopeNames,
  rows: provableLocks.map(({ stage }) => stage),
  signs: ['✔', '✘', '·', '–'] as const,
});

/** What the table says of a lock in a scope: – as well where it does not name the lock. */
export const signExpected = (stage: string, scope: string) =>
  (Object.hasOwn(rows, stage) ? rows[stage]?.[scope] : undefined) ?? '–';

/** What the search is expected to find. Undefined where nothing is expected. */
export function expectedVerdict(stage: string, scope: string): 'holds' | 'fails' | undefined {
  const sign = signExpected(stage, scope);
  if (sign === '✔') return 'holds';
  return sign === '✘' ? 'fails' : undefined;
}

/** Where the search looks at more orders than the drill of the same name stages, and finds another verdict: why. */
export const differences: Record<string, Record<string, string>> = {
  'fenced-writes': {
    'paused-process':
      'The drill lets the late write arrive after the next one; the search also before it, as crossed-write does.',
  },
};
