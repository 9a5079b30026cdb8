import { expect, test } from 'vitest';
import { isTooMuchOnAverage } from '../../../../loadtest/grade/contract/checks/commands.ts';
import { fails } from '../../../../loadtest/grade/contract/outcome.ts';

test.each([
  { waitingPerSecond: 151, holdingPerSecond: 0, isCertain: true },
  { waitingPerSecond: 0, holdingPerSecond: 51, isCertain: true },
  // Its busiest moment was too much: these commands may have been held up, and have come at once.
  { waitingPerSecond: 150, holdingPerSecond: 50, isCertain: false },
])(
  'contract-commands: $waitingPerSecond a second while it waits, $holdingPerSecond while it holds',
  ({ isCertain, ...figures }) => {
    expect(isTooMuchOnAverage(fails('Too much.', [], figures))).toBe(isCertain);
  },
);
