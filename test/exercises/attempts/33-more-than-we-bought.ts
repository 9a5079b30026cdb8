import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'puts the unit back first, and leaves when there is nothing to close',
    from: 'lock',
    replace: [
      ['      await mysql.write(CLOSE, [order.id]);\n', ''],
      [
        '      await mysql.write(PUT_BACK, [order.quantity, order.sku]);\n',
        '      await mysql.write(PUT_BACK, [order.quantity, order.sku]);\n      if ((await mysql.write(CLOSE, [order.id])) === 0) return;\n',
      ],
    ],
    fails: 'double-restore',
    reason: '200 units came back',
  },
  {
    what: 'counts the rows, and no longer asks for the status',
    from: 'solution',
    replace: [[" AND status = 'UNPAID'`", '`']],
    fails: 'double-restore',
    reason: '200 units came back',
  },
  {
    what: 'looks at the status first, in the same transaction',
    from: 'lock',
    replace: [
      [
        '      await mysql.write(CLOSE, [order.id]);\n',
        "      const [found] = await mysql.read<{ status: string }>('SELECT status FROM tb_order WHERE id = ?', [order.id]);\n      if (found?.status !== 'UNPAID') return;\n      await mysql.write(CLOSE, [order.id]);\n",
      ],
    ],
    fails: 'crossed-ticks',
    reason: '2 units came back for 1 that was due',
  },
  {
    what: 'closes the orders first, all of them, and puts the units back then',
    from: 'solution',
    replace: [
      [
        '  for (const order of await readDue()) {\n    await inTransaction',
        '  const closedHere = new Set<string>();\n  const due = await readDue();\n  for (const order of due) {\n    await inTransaction(order, async (mysql) => {\n      if ((await mysql.write(CLOSE, [order.id])) === 1) closedHere.add(order.id);\n    });\n  }\n  for (const order of due) {\n    if (closedHere.has(order.id)) await inTransaction',
      ],
      ['      const closed = await mysql.write(CLOSE, [order.id]);\n      if (closed === 0) return;\n', ''],
    ],
    fails: 'job-crashes-half-way',
    reason: '50 units came back for 100 that were due',
  },
];
