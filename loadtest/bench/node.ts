// A node of the bench: the inventory service, plus a sale that uses no store. Only the bench has that sale.

import { strategies } from '../../locks/index.ts';
import type { TakeOne } from '../../locks/lock.ts';
import { startNode } from '../../services/inventory/node.ts';

/** More than a turn can sell. */
let stock = 1_000_000_000;

/**
 * The units are a number in the memory of this node. What is left is the way through nginx and the service, so this is the most that any
 * strategy can reach over HTTP.
 */
const takeOne: TakeOne = async ({ business, emit }) => {
  emit('began');
  await business();
  const stockBefore = stock;
  stock -= 1;
  emit('read', stockBefore);
  emit('wrote', stock);
  return stockBefore;
};

strategies['http-ceiling'] = { backend: 'redis', stockIn: 'redis', takeOne };
await startNode();
