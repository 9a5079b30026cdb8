// Beyond · mysql-optimistic
// Problem: every sale waits for the one before it, and keeps a connection while it waits.
// Change:  nobody waits: the write names the version that was read, and changes nothing when the row has another one by now.
// Leaves:  the more buyers there are, the more writes are refused and sales begun again.

import type { ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { unlessRefused } from '../drivers/mysql-errors.ts';
import { withSession } from '../drivers/mysql-session.ts';
import { type TakeOne, TooManyConflictsError } from '../lock.ts';

/** Of 20 buyers at a time one gets through, so the odds against 1,000 refusals of one sale are astronomic. */
const MAX_TRIES = 1_000;

export const takeOne: TakeOne = ({ mysql, sku, signal, business, write, emit }) =>
  withSession(mysql, signal, async ({ ask }) => {
    emit('began');
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      // Each statement is a transaction of its own: within one, REPEATABLE READ would read the old version at every try.
      const read = 'SELECT stock, version FROM tb_stock WHERE sku = ?';
      const [row] = await ask<RowDataPacket[]>(read, [sku], signal);
      if (row === undefined) return undefined;
      emit('read', row.stock);
      if (row.stock <= 0) return row.stock;
      await business();
      if (await write(() => update(row.stock - 1, row.version))) {
        emit('wrote', row.stock - 1);
        return row.stock;
      }
      emit('conflict');
    }
    throw new TooManyConflictsError(sku, MAX_TRIES);

    async function update(stock: number, version: number) {
      const sql = 'UPDATE tb_stock SET stock = ?, version = version + 1 WHERE sku = ? AND version = ?';
      const updated = await ask<ResultSetHeader>(sql, [stock, sku, version], signal).catch(unlessRefused);
      return updated?.affectedRows === 1;
    }
  });
