// Beyond · mysql-conditional
// Problem: the more buyers there are, the more writes are refused and the more sales start over.
// Change:  one UPDATE checks the stock and takes a unit, so no sale acts on a stale read.
// Leaves:  it works only where the whole step is one statement on one server.

import type { ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { unlessRefused } from '../drivers/mysql-errors.ts';
import { withSession } from '../drivers/mysql-session.ts';
import { type TakeOne, TooManyConflictsError } from '../lock.ts';

const MAX_TRIES = 5;

/** LAST_INSERT_ID(x) returns x and the connection remembers it: the stock that this statement found. */
const takeIt =
  'UPDATE tb_stock SET stock = LAST_INSERT_ID(stock) - 1, version = version + 1 WHERE sku = ? AND stock > 0';

export const takeOne: TakeOne = ({ mysql, sku, signal, business, write, emit }) =>
  withSession(mysql, signal, async ({ ask }) => {
    emit('began');
    await business();
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const taken = await write(() => ask<ResultSetHeader>(takeIt, [sku], signal).catch(unlessRefused));
      if (taken?.affectedRows === 1) {
        const [found] = await ask<RowDataPacket[]>('SELECT LAST_INSERT_ID() AS stock');
        emit('read', found?.stock);
        emit('wrote', found?.stock - 1);
        return found?.stock;
      }
      if (taken !== undefined) {
        const [row] = await ask<RowDataPacket[]>('SELECT sku FROM tb_stock WHERE sku = ?', [sku]);
        if (row === undefined) return undefined;
        emit('read', 0);
        return 0;
      }
      emit('conflict');
    }
    throw new TooManyConflictsError(sku, MAX_TRIES);
  });
