import { registry } from '../../../locks/index.ts';
import { milliseconds, oneOf } from './setting-kinds.ts';

export const stockSettings = {
  STOCK_CACHE: oneOf('off', 'write-through', 'cache-aside', 'double-delete', 'database-decides').default('off'),
  STOCK_DELETE_AGAIN_MS: milliseconds(1, 60_000).default(500),
};

const fenced = 'has the stock check its fencing token, which MySQL does not';
const whyNotCached: Record<string, string> = {
  fenced,
  'fenced-writes': fenced,
  multi: 'sells baskets, and takes half a basket back from one store',
};

/** Why a lock can't sell a stock that is in MySQL and in Redis, as part of a sentence. Undefined when it can. */
export function whyOneStore(lock: string): string | undefined {
  if ('takeOne' in registry.strategyNamed(lock)) return 'takes its unit from one store, in a way of its own';
  return whyNotCached[lock];
}
