import type { Attempt } from '../attempt.ts';

export const attempts: Attempt[] = [
  {
    what: 'writes the key before the work, and the answer behind it',
    from: 'lock',
    replace: [
      ['async ({ key, work, mysql }) =>', 'async ({ key, work, mysql, inProgress }) =>'],
      ["'INSERT INTO tb_key (name, answer) VALUES (?, ?)'", "'UPDATE tb_key SET answer = ? WHERE name = ?'"],
      ['<{ answer: string }>', '<{ answer: string | null }>'],
      [
        '  if (known) return JSON.parse(known.answer);\n',
        "  if (known?.answer) return JSON.parse(known.answer);\n  if (known) throw inProgress();\n  await mysql.write('INSERT INTO tb_key (name) VALUES (?)', [key]);\n",
      ],
      ['[key, JSON.stringify(answer)]', '[JSON.stringify(answer), key]'],
    ],
    fails: 'crash-before-answer',
    reason: 'the buyer never learns of it',
  },
  {
    what: 'writes the key in the transaction of the order, and passes over a key that is there',
    from: 'solution',
    replace: [['INSERT INTO tb_key', 'INSERT IGNORE INTO tb_key']],
    fails: 'clicks-at-once',
    reason: '2 orders for one purchase',
  },
  {
    what: 'waits a moment when the work is done, and looks once more',
    from: 'lock',
    replace: [
      [
        '  const answer = await work();\n',
        '  const answer = await work();\n  await new Promise((over) => setTimeout(over, 300));\n  const [other] = await mysql.read<{ answer: string }>(FIND, [key]);\n  if (other) return JSON.parse(other.answer);\n',
      ],
    ],
    fails: 'crash-before-answer',
    reason: '2 orders for one purchase',
  },
  {
    what: 'is within the work and not within its transaction',
    from: 'solution',
    replace: [
      ['work((sameTransaction, answer) => sameTransaction.write(', 'work((_sameTransaction, answer) => mysql.write('],
    ],
    fails: 'retry-after-timeout',
    reason: 'only the mysql that it gives you belongs to its transaction',
  },
];
