// Beyond · mysql-pessimistic
// Problem: the lock is on one server and the stock on another, so a sale can write the stock after losing the lock.
// Change:  the stock is a row in MySQL, and the lock is on that row: a transaction that loses the lock can't commit its write.
// Leaves:  every sale waits for the sale before it, and occupies a connection while it waits.

import type { RowDataPacket } from 'mysql2/promise';
import { isRefused } from '../drivers/mysql-errors.ts';
import { type MysqlSession, withSession } from '../drivers/mysql-session.ts';
import { type TakeOne, TooManyConflictsError } from '../lock.ts';

const MAX_TRIES = 5;

export const takeOne: TakeOne = async ({ mysql, sku, signal, business, write, emit }) => {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    try {
      return await withSession(mysql, signal, sell);
    } catch (error) {
      if (!isRefused(error)) throw error;
      emit('conflict');
    }
  }
  throw new TooManyConflictsError(sku, MAX_TRIES);

  async function sell({ ask, wait }: MysqlSession) {
    await ask('START TRANSACTION');
    // FOR UPDATE reads the last committed value. A plain SELECT would read the REPEATABLE READ snapshot and lock nothing.
    const [row] = await wait<RowDataPacket[]>('SELECT stock FROM tb_stock WHERE sku = ? FOR UPDATE', [sku], signal);
    if (row !== undefined) {
      emit('entered');
      emit('read', row.stock);
    }
    if (row === undefined || row.stock <= 0) {
      emit('left');
      await ask('ROLLBACK');
      return row?.stock;
    }
    await business();
    const stock = row.stock - 1;
    await ask('UPDATE tb_stock SET stock = ?, version = version + 1 WHERE sku = ?', [stock, sku]);
    // COMMIT writes and unlocks the row: nothing is written before, and the next sale may see it before we get the reply.
    emit('left');
    await write(() => ask('COMMIT'));
    emit('wrote', stock);
    return row.stock;
  }
};
