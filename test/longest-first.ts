import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes longest, which a new checkout does not know: it comes first, so that no worker is left alone with it at the end. */
const longest = [
  'contract/own-locks',
  'contract/known-locks',
  'commands/orders-track',
  'commands/replay-options',
  'commands/replay',
  'drills/prevented',
  'orders/drills',
  'drills/busy',
  'commands/grade',
  'commands/staircase',
  'inventory/outage',
  'scripts/reconcile',
  'orders/cleanup-faults',
  'drills/beyond',
  'drills/clean-up',
];

const rankOf = ({ moduleId }: TestSpecification) => {
  const rank = longest.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return rank === -1 ? longest.length : rank;
};

/** The files that take longest first, the others as Vitest orders them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
