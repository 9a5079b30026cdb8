// Beyond · mysql-optimistic
// Problem: every sale waits for the sale before it, and occupies a connection while it waits.
// Change:  nobody waits: the UPDATE names the version that was read, and changes nothing if the row has a newer version.
// Leaves:  the more buyers there are, the more writes are refused and the more sales start over.

import type { ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { unlessRefused } from '../drivers/mysql-errors.ts';
import { withSession } from '../drivers/mysql-session.ts';
import { type TakeOne, TooManyConflictsError } from '../lock.ts';

/** With 20 buyers at a time, one gets through per round, so 1,000 refusals of one sale are astronomically unlikely. */
const MAX_TRIES = 1_000;

export const takeOne: TakeOne = ({ mysql, sku, signal, business, write, emit }) =>
  withSession(mysql, signal, async ({ ask }) => {
    emit('began');
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      // Each statement is its own transaction: within one transaction, REPEATABLE READ would read the old version at every try.
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
