// The conformance checks, and which drills ask for more than a lock promises.

import { checks as all } from '../../loadtest/conformance/checks.ts';
import { notPromisedBy } from '../../loadtest/grade/not-promised.ts';
import { questionOfCheck } from '../../loadtest/staircase/conformance.ts';
import { capitalized, codeOf, withoutPrefix } from './markdown.ts';

const has = {
  renewal: 'a renewal',
  lost: 'the signal `lost`',
  token: 'a fencing token',
  replica: 'a lock that waits for a replica',
};
/** What the others find out for themselves. */
const finds: Record<string, string> = {
  'contract-long-hold': 'a renewal, or the promise `renewal`',
  'contract-nested': 'the promise `reentry`, or re-entry',
  'contract-wake-up': 'waiters that listen or block',
  'contract-herd': 'waiters that a release wakes',
  'contract-order': "the promise `fairness: 'order'`",
  'contract-turn': 'a promise of `fairness`',
  'contract-belief': 'a lease',
  'contract-permits': 'the promise `permits`',
};

export function checks(): string {
  const lines = all.map(({ name, needs }) => {
    const needed = needs ? has[needs] : finds[name];
    const asks = capitalized(questionOfCheck(name) ?? '');
    return `- ${codeOf(withoutPrefix(name))}: ${asks}${needed === undefined ? '' : ` (Needs ${needed}.)`}`;
  });
  return lines.join('\n');
}

/** Each reason once, with the drills that it is said of. */
export function notPromised(): string {
  const why = { ...notPromisedBy({}), ...notPromisedBy({ renewal: true }) };
  const reasons = [...new Set(Object.values(why))];
  const drillsOf = (reason: string) => Object.keys(why).filter((drill) => why[drill] === reason);
  return reasons.map((reason) => `- ${drillsOf(reason).map(codeOf).join(', ')}: ${reason}`).join('\n');
}
