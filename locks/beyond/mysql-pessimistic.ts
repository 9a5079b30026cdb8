// Beyond · mysql-pessimistic
// Problem: the lock is on one server and the stock on another, so the stock is written although the lock is gone.
// Change:  the stock is a row in MySQL, and the lock is on that row: a transaction that loses it can't commit the write.
// Leaves:  every sale waits for the one before it, and keeps a connection while it waits.

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
    // FOR UPDATE reads what was committed last. A plain SELECT would read the snapshot of REPEATABLE READ, and lock nothing.
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
    // COMMIT writes and gives the row up: until it is sent nothing is written, and the next sale may know it before we do.
    emit('left');
    await write(() => ask('COMMIT'));
    emit('wrote', stock);
    return row.stock;
  }
};
