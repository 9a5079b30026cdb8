// Parses the traffic between a client and MySQL or MariaDB: statements and their replies.
// https://mariadb.com/docs/server/reference/clientserver-protocol
//
// A packet is three bytes of length, its number, and so many bytes. A command has number 0, the first packet of its reply number 1;
// no packet of a handshake has these. Of a reply as much is read as says what it is: an OK, an error, or the first row. What
// follows is passed on as it comes, so its end need not be known.
//
// Not read: what comes after a client has asked for TLS or compression, and statements of more than 16 MB.

import type { Command } from './command.ts';
import type { Reading } from './connection.ts';
import type { Reply } from './replies.ts';

/** The pseudo-command from which on a connection can't be read. */
export const UNREADABLE = 'UNREADABLE';

const [QUIT, QUERY, PING, PREPARE, EXECUTE, LONG_DATA, CLOSE] = [0x01, 0x03, 0x0e, 0x16, 0x17, 0x18, 0x19];
const unanswered = new Set([QUIT, LONG_DATA, CLOSE]);
const [OK, NULL, END, ERROR] = [0x00, 0xfb, 0xfe, 0xff];
/** What a client asks for in its answer to the greeting: compression of two kinds, and TLS. */
const UNREADABLE_FLAGS = 0x20 | 0x800 | 0x4000000;
/** What a server says of itself in an OK, or at the end of the columns. */
const IN_TRANSACTION = 0x01;
const HAS_CURSOR = 0x40;

interface Packet {
  bytes: Buffer;
  number: number;
  body: Buffer;
}

/** What a reply says. */
type Said = Omit<Reply, 'bytes' | 'isPush'>;

/** A result set that has begun. */
interface Rows {
  isText: boolean;
  kept: Buffer[];
  columns: { name: string; type: number }[];
  /** How many columns have not come. */
  left: number;
  hasColumnsEnded: boolean;
}

/** Reads one connection. */
export function readStatements(): Reading {
  let isUnreadable = false;
  let hasAnsweredGreeting = false;
  const asked: { code: number; sql: string }[] = [];
  const prepared = new Map<number, string>();

  /** The command in a packet. Undefined when it is none, or is never answered. */
  function commandIn({ number, body }: Packet): Command | undefined {
    if (!hasAnsweredGreeting) {
      hasAnsweredGreeting = true;
      isUnreadable = body.length >= 4 && (body.readUInt32LE(0) & UNREADABLE_FLAGS) !== 0;
      return isUnreadable ? { name: UNREADABLE, args: [], isSql: true } : undefined;
    }
    const [code = QUIT] = body;
    if (number !== 0 || unanswered.has(code)) return undefined;
    const sql = sqlIn(code, body);
    asked.push({ code, sql });
    if (sql === '') return { name: code === PING ? 'PING' : 'OTHER', args: [], isSql: true };
    if (code === PREPARE) return { name: 'PREPARE', args: [`PREPARE ${sql}`], isSql: true };
    return { name: verbOf(sql), args: [sql], isSql: true };
  }

  function sqlIn(code: number, body: Buffer): string {
    if (code === EXECUTE) return prepared.get(body.readUInt32LE(1)) ?? '';
    // MySQL's own clients say first that there are no attributes.
    return code === QUERY || code === PREPARE ? body.toString('utf8', body[1] === 0 ? 3 : 1) : '';
  }

  /** What the first packet of a reply says. A result set is not known by that. */
  function begin({ code, sql }: (typeof asked)[number], { bytes, body }: Packet): Said | Rows {
    const [mark] = body;
    if (mark === ERROR) return errorIn(body);
    if (mark === OK && code === PREPARE) prepared.set(body.readUInt32LE(1), sql);
    if ((code !== QUERY && code !== EXECUTE) || mark === END || mark === NULL) return { text: 'OK' };
    const values = valuesFrom(body, mark === OK ? 1 : 0);
    const count = Number(values.number());
    if (mark === OK) {
      values.number();
      const isOpen = (body.readUInt16LE(values.take(2)) & IN_TRANSACTION) !== 0;
      return { text: `OK, ${count} changed${isOpen ? ', not committed' : ''}`, changed: count, isOpen };
    }
    // MariaDB leaves the columns out where its client knows them.
    if (values.take(1) < body.length && body.at(-1) === 0) return { text: 'unknown' };
    return { isText: code === QUERY, kept: [bytes], columns: [], left: count, hasColumnsEnded: false };
  }

  return {
    greetings: new Set(),
    readCommands: (onCommand) => readPackets((packet) => onCommand(packet.bytes, commandIn(packet)), onCommand),
    readReplies(onReply) {
      let last = { number: 0, isEnd: true };
      let rows: Rows | undefined;
      const pass = (bytes: Buffer) => onReply({ bytes, isPush: true, text: '' });
      return readPackets((packet) => {
        const { bytes, number, body } = packet;
        // After 255 packets of a reply the numbers begin again.
        const isFirst = number === 1 && (last.number !== 0 || last.isEnd);
        last = { number, isEnd: body[0] === END };
        const question = isFirst ? asked.shift() : undefined;
        if (question === undefined && rows === undefined) return pass(bytes);
        const said = question ? begin(question, packet) : goOn(rows as Rows, packet);
        if (said === undefined) return;
        const kept = question ? [bytes] : (rows as Rows).kept;
        rows = 'kept' in said ? said : undefined;
        if (!('kept' in said)) onReply({ bytes: Buffer.concat(kept), isPush: false, ...said });
      }, pass);
    },
  };

  /** Returns what takes bytes, split anywhere, and gives them on as packets, or as they come when they can't be read. */
  function readPackets(onPacket: (packet: Packet) => void, pass: (bytes: Buffer) => void) {
    let kept: Buffer = Buffer.alloc(0);
    return (chunk: Buffer) => {
      kept = kept.length > 0 ? Buffer.concat([kept, chunk]) : chunk;
      while (!isUnreadable && kept.length >= 4) {
        const end = 4 + kept.readUIntLE(0, 3);
        if (end > kept.length) return;
        const bytes = kept.subarray(0, end);
        kept = kept.subarray(end);
        onPacket({ bytes, number: bytes.readUInt8(3), body: bytes.subarray(4) });
      }
      if (!isUnreadable) return;
      if (kept.length > 0) pass(kept);
      kept = Buffer.alloc(0);
    };
  }
}

/** What a further packet of a result set says. Undefined while it has no row. */
function goOn(rows: Rows, { bytes, body }: Packet): Said | undefined {
  rows.kept.push(bytes);
  if (body[0] === ERROR) return errorIn(body);
  if (rows.left > 0) {
    rows.left -= 1;
    // Catalogue, schema, table as it is called here, table, name as it is called here, name.
    const [, , , , alias = '', name = ''] = Array.from({ length: 6 }, valuesFrom(body, 0).string);
    rows.columns.push({ name: name || alias, type: body.readUInt8(body.length - 6) });
    return undefined;
  }
  // Between columns and rows there is an end, unless the client has asked for none: then the one of the rows is longer.
  if (body[0] === END && body.length === 5 && !rows.hasColumnsEnded) {
    rows.hasColumnsEnded = true;
    return body.readUInt16LE(3) & HAS_CURSOR ? { text: 'unknown' } : undefined;
  }
  return body[0] === END ? { text: 'no row' } : rowIn(rows, body);
}

/** How many bytes a number has, by its type. */
const widths: Record<number, number> = { 1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 8: 8, 9: 4, 13: 2 };
const [FLOAT, DOUBLE] = [4, 5];

/** A row, in text or as a prepared statement has it. */
function rowIn({ isText, columns }: Rows, body: Buffer): Said {
  const values = valuesFrom(body, isText ? 0 : 1 + Math.floor((columns.length + 9) / 8));
  const read = ({ type }: Rows['columns'][number], index: number) => {
    if (isText) return values.string();
    const bit = index + 2;
    if (((body[1 + (bit >> 3)] ?? 0) >> (bit & 7)) & 1) return undefined;
    const width = widths[type];
    // Dates, too, come as so many bytes behind their length.
    if (width === undefined) return values.string();
    const at = values.take(width);
    if (type === FLOAT || type === DOUBLE) return String(type === FLOAT ? body.readFloatLE(at) : body.readDoubleLE(at));
    return String(width === 8 ? body.readBigInt64LE(at) : body.readIntLE(at, width));
  };
  const row = new Map(columns.map((column, index) => [column.name, read(column, index) ?? 'NULL']));
  return { text: [...row].map((pair) => pair.join('=')).join(' '), row };
}

/** The first word of a statement, behind comments. */
function verbOf(sql: string): string {
  const [, verb = ''] = /^(?:\s|\(|\/\*.*?\*\/|(?:--|#)[^\n]*\n)*(\w+)/s.exec(sql) ?? [];
  return verb.toUpperCase();
}

/** Its code and its words. */
const errorIn = (body: Buffer): Said => ({ text: `error ${body.readUInt16LE(1)} ${body.toString('utf8', 9)}` });

/** Reads the values of a packet from there on. */
function valuesFrom(body: Buffer, start: number) {
  let at = start;

  /** Where so many bytes begin that are read now. */
  function take(bytes: number): number {
    at += bytes;
    return at - bytes;
  }

  /** A number in one byte, or in those that the first one tells. Undefined for NULL. */
  function number(): number | undefined {
    const first = body.readUInt8(take(1));
    if (first < NULL) return first;
    if (first === NULL) return undefined;
    if (first === END) return Number(body.readBigUInt64LE(take(8)));
    const width = first === 0xfc ? 2 : 3;
    return body.readUIntLE(take(width), width);
  }

  function string(): string | undefined {
    const length = number();
    return length === undefined ? undefined : body.toString('utf8', take(length), at);
  }

  return { take, number, string };
}
