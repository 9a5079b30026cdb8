import { registry } from '../../../locks/index.ts';
import { milliseconds, oneOf } from './setting-kinds.ts';

export const stockSettings = {
  STOCK_CACHE: oneOf('off', 'write-through', 'cache-aside', 'double-delete', 'database-decides').default('off'),
  STOCK_DELETE_AGAIN_MS: milliseconds(1, 60_000).default(500),
};

const fenced = 'relies on the stock to check its fencing token, which MySQL does not do';
const whyNotCached: Record<string, string> = {
  fenced,
  'fenced-writes': fenced,
  multi: 'sells baskets, and can revert half a basket in one store only',
};

/** Why a lock can't sell a stock that is in both MySQL and Redis, as part of a sentence. Undefined if it can. */
export function whyOneStore(lock: string): string | undefined {
  if ('takeOne' in registry.strategyNamed(lock)) return 'takes its unit from one store, without a lock';
  return whyNotCached[lock];
}
