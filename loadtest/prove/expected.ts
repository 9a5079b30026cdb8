// The expected verdict of each lock in each scope. If the model checker finds another one, the run ends with 1.

import { readTable } from '../staircase/table.ts';
import { provableLocks, scopeNames } from './plan.ts';

// ✔ holds in every interleaving, ✘ fails in one, · has no expected verdict, – is not checked.
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

/** The sign of a lock in a scope: – if the table does not name the lock. */
export const signExpected = (stage: string, scope: string) =>
  (Object.hasOwn(rows, stage) ? rows[stage]?.[scope] : undefined) ?? '–';

/** The expected verdict. Undefined if nothing is expected. */
export function expectedVerdict(stage: string, scope: string): 'holds' | 'fails' | undefined {
  const sign = signExpected(stage, scope);
  if (sign === '✔') return 'holds';
  return sign === '✘' ? 'fails' : undefined;
}

/** Why the model checker finds another verdict than the drill of the same name: it checks more interleavings. */
export const differences: Record<string, Record<string, string>> = {
  'fenced-writes': {
    'paused-process':
      'In the drill the late write arrives after the next write. The model checker also lets it arrive before, as crossed-write does.',
  },
};
