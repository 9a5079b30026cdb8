// Which commands of a node read the stock, write it, and give a lock up.

import { deletingCommands } from '../../../locks/drivers/delete-if-equal.ts';
import { stockKey } from '../../../services/inventory/servers/store.ts';
import type { Command } from '../../../stack/proxy/link.ts';

const stock = stockKey('001');

/** The command that reads the stock, itself or in a script. */
export function isStockRead({ name, script, args }: Command): boolean {
  return (name === 'GET' || script === 'read-if-newest') && args.includes(stock);
}

/** The command that writes the stock, itself or in a script. */
export function isStockWrite({ name, script, args }: Command): boolean {
  return !['GET', 'MGET'].includes(name) && script !== 'read-if-newest' && args.includes(stock);
}

/** The command by which a watchdog of ours renews a lease. */
export const isRenewal = ({ script }: Command): boolean => script?.startsWith('renew-') ?? false;

/** What deletes the key of a lock of ours, besides a script. */
const deleting = new Set(['DEL', ...Object.keys(deletingCommands)]);

/** The command by which a holder of a lock of ours gives it up. */
export function isRelease({ name, script }: Command): boolean {
  return deleting.has(name) || (script?.startsWith('release-') ?? false);
}
