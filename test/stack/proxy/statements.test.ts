import { createConnection } from 'mysql2/promise';
import { expect, onTestFinished, test } from 'vitest';
import type { Command } from '../../../stack/proxy/link.ts';
import { openReplyLink } from '../../../stack/proxy/link.ts';
import type { Reply } from '../../../stack/proxy/replies.ts';
import { readStatements, UNREADABLE } from '../../../stack/proxy/statements.ts';
import { sharedMysql } from '../../own-stack.ts';

type Part = number | string | number[];
const bytesOf = (part: Part) => (typeof part === 'number' ? [part] : [...Buffer.from(part as string)]);
const text = (value: string): number[] => [value.length, ...Buffer.from(value)];

function packet(number: number, ...parts: Part[]): Buffer {
  const body = Buffer.from(parts.flatMap(bytesOf));
  return Buffer.concat([Buffer.from([body.length & 255, body.length >> 8, 0, number & 255]), body]);
}

const fixed = (type: number) => [0x0c, 33, 0, 0, 0, 0, 0, type, 0, 0, 0, 0, 0];
const column = (number: number, name: string, type: number) =>
  packet(number, text('def'), text('shop'), text('g'), text('goods'), text('alias'), text(name), fixed(type));
const end = (number: number) => packet(number, 0xfe, 0, 0, 2, 0);
const ok = (rows: number, status: number) => packet(1, 0, rows, 0, status, 0, 0, 0);
const [INT, STRING] = [3, 253];
/** What a client says of itself, with these of its flags. */
const greeting = (flags: number) => packet(1, [flags & 255, flags >> 8, 0, 0], Array(28).fill(0));
const [plain, withTls] = [0, 0x800];

/** What a client sends and what it is answered, one after the other. */
const talk: [client: Buffer, server: Buffer][] = [
  [Buffer.alloc(0), packet(0, 10, '10.11-MariaDB', 0)],
  [greeting(plain), packet(2, 0, 0, 0, 2, 0, 0, 0)],
  [packet(0, 3, '/* a */ select * from goods'), answered(column(3, 'name', STRING), packet(6, text('pen'), text('7')))],
  [packet(0, 0x16, 'SELECT ?'), Buffer.concat([packet(1, 0, 5, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0), end(2), end(3)])],
  [packet(0, 0x17, 5, 0, 0, 0), answered(column(3, 'name', STRING), packet(6, 0, 0b100, 9, 0, 0, 0))],
  [packet(0, 0x19, 5, 0, 0, 0), Buffer.alloc(0)],
  [packet(0, 3, 'UPDATE goods'), ok(1, 3)],
  [packet(0, 3, 'COMMIT'), ok(0, 2)],
  [packet(0, 3, 'UPDATE it'), packet(1, 0xff, 0x7a, 4, '#42S02no table')],
  [packet(0, 0x0e), ok(0, 2)],
];

/** A result set of two columns, the second with this row behind it, and of so many more. */
function answered(first: Buffer, row: Buffer, more = 0): Buffer {
  const rows = Array.from({ length: more }, (_, index) => packet(7 + index, text('cup'), text('9')));
  return Buffer.concat([packet(1, 2), first, column(4, 'qty', INT), end(5), row, ...rows, end(7 + more)]);
}

/** Reads it in pieces of so many bytes. */
function read(spoken: typeof talk, size: number) {
  const { readCommands, readReplies } = readStatements();
  const commands: string[] = [];
  const replies: string[] = [];
  const passed: Buffer[] = [];
  const seeCommand = (bytes: Buffer, command?: Command) => {
    passed.push(bytes);
    if (command) commands.push([command.name, ...command.args].join(': '));
  };
  const seeReply = ({ bytes, isPush, text }: Reply) => {
    passed.push(bytes);
    if (!isPush) replies.push(text);
  };
  const [client, server] = [readCommands(seeCommand), readReplies(seeReply)];
  for (const [sent, answer] of spoken) {
    for (let at = 0; at < sent.length; at += size) client(sent.subarray(at, at + size));
    for (let at = 0; at < answer.length; at += size) server(answer.subarray(at, at + size));
  }
  return { commands, replies, passed: Buffer.concat(passed) };
}

test.each([1, 2, 3, 5, 7, 1_000])('statements: each has its answer, in pieces of %i bytes', (size) => {
  const { commands, replies, passed } = read(talk, size);

  expect(commands).toEqual([
    'SELECT: /* a */ select * from goods',
    'PREPARE: PREPARE SELECT ?',
    'SELECT: SELECT ?',
    'UPDATE: UPDATE goods',
    'COMMIT: COMMIT',
    'UPDATE: UPDATE it',
    'PING',
  ]);
  expect(replies).toEqual([
    'name=pen qty=7',
    'OK',
    'name=NULL qty=9',
    'OK, 1 changed, not committed',
    'OK, 0 changed',
    'error 1146 no table',
    'OK',
  ]);
  expect(passed.equals(Buffer.concat(talk.flat()))).toBe(true);
});

test.each([249, 300])(
  'statements: after %i rows the numbers have begun again, and the next answer is that of the next',
  (more) => {
    const rows = answered(column(3, 'name', STRING), packet(6, text('pen'), text('7')), more);
    const long = [
      ...talk.slice(0, 2),
      [packet(0, 3, 'SELECT 1'), rows],
      [packet(0, 3, 'COMMIT'), ok(0, 2)],
    ] as typeof talk;

    expect(read(long, 11).replies).toEqual(['name=pen qty=7', 'OK, 0 changed']);
  },
);

test('statements: what follows the wish for TLS is passed on as it comes', () => {
  const tls: typeof talk = [talk[0] as (typeof talk)[0], [greeting(withTls), Buffer.from('\x16hello')]];

  const { commands, replies, passed } = read(tls, 9);

  expect(commands).toEqual([UNREADABLE]);
  expect(replies).toEqual([]);
  expect(passed.equals(Buffer.concat(tls.flat()))).toBe(true);
});

test('statements: a reading is held at its answer on the line to MariaDB, and another connection reads on', async () => {
  const mysql = await sharedMysql();
  const link = await openReplyLink(await mysql.database('statements'));
  onTestFinished(() => link.close());
  const [first, second] = await Promise.all([createConnection(link.url), createConnection(link.url)]);
  await first.query('CREATE TABLE goods (qty INT)');
  await first.query('INSERT INTO goods VALUES (7)');
  const held = link.holdNextReply(({ name }) => name === 'SELECT');
  let isAnswered = false;
  const sql = 'SELECT qty AS left_over FROM goods WHERE qty > ?';

  const reading = first.execute(sql, [1]).then(([rows]) => {
    isAnswered = true;
    return rows;
  });
  const { command, reply } = await held.arrived;
  await second.execute(sql, [2]);

  expect([command.args, reply.text, isAnswered]).toEqual([[sql], 'qty=7', false]);
  held.letGo();
  expect(await reading).toEqual([{ left_over: 7 }]);
  for (const connection of [first, second]) connection.destroy();
});
