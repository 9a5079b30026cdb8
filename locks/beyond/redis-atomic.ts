// Beyond · redis-atomic
// Problem: a lock costs commands and waiting time, and every lock above can fail in some way.
// Change:  one script checks the stock and takes a unit, so there is no gap to protect: the best lock here is no lock.
// Leaves:  it works only where the whole step is a few commands on one server.

import { readScript } from '../drivers/script.ts';
import type { TakeOne } from '../lock.ts';

const takeOneScript = readScript('take-one');

export const takeOne: TakeOne = async ({ redis, stockKey, business, write, emit }) => {
  emit('began');
  await business();
  const stockBefore = await write(() => takeOneScript(redis, [stockKey], []));
  if (stockBefore === -1) return undefined;
  emit('read', stockBefore);
  if (stockBefore > 0) emit('wrote', stockBefore - 1);
  return stockBefore;
};
