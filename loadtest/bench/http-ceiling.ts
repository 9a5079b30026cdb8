import type { TakeOne } from '../../locks/lock.ts';

/** More than a turn can sell. */
let stock = 1_000_000_000;

/**
 * A sale that touches no store: the units are a number in the memory of its node. What is left is the way through nginx and the service, so
 * this is the most that any strategy can reach over HTTP.
 */
export const takeOne: TakeOne = async ({ business, emit }) => {
  emit('began');
  await business();
  emit('writing');
  const stockBefore = stock;
  stock -= 1;
  emit('read', stockBefore);
  emit('wrote', stock);
  return stockBefore;
};
