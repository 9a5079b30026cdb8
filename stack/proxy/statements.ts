// Reads what passes between a client and MySQL or MariaDB: statements, and what they are answered.
// https://mariadb.com/docs/server/reference/clientserver-protocol
//
// A packet is three bytes of length, its number, and so many bytes. A command has number 0, the first packet of its reply number 1;
// no packet of a handshake has these. Of a reply as much is read as says what it is: an OK, an error, or the first row. What
// follows is passed on as it comes, so its end need not be known.
//
// Not read: what comes after a client has asked for TLS or compression, and statements of more than 16 MB.

import type { Command } from './command.ts';
import type { Reading } from './connection.ts';

/** The command that says that nothing of a connection can be read from here on. */
export const UNREADABLE = 'UNREADABLE';

const [QUIT, QUERY, PREPARE, EXECUTE, LONG_DATA, CLOSE, BULK_EXECUTE] = [0x01, 0x03, 0x16, 0x17, 0x18, 0x19, 0xfa];
const unanswered = new Set([QUIT, LONG_DATA, CLOSE]);
const names: Record<number, string> = { 2: 'USE', 14: 'PING', 17: 'CHANGE USER', 31: 'RESET' };
const [OK, NULL, END, ERROR] = [0x00, 0xfb, 0xfe, 0xff];
/** What a client asks for in its answer to the greeting: compression of two kinds, and TLS. */
const UNREADABLE_FLAGS = 0x20 | 0x800 | 0x4000000;
/** What a server says of itself in an OK or at the end of the columns. */
const IN_TRANSACTION = 0x01;
const HAS_CURSOR = 0x40;
const NEWEST = 0xffffffff;

interface Packet {
  bytes: Buffer;
  /** Undefined of what can't be read. */
  number?: number;
  body: Buffer;
}

interface Asked {
  code: number;
  sql: string;
}

interface Column {
  name: string;
  type: number;
}

/** A result set that has begun. */
interface Rows extends Asked {
  kept: Buffer[];
  columns: Column[];
  /** How many columns have not come. */
  left: number;
  hasColumnsEnded: boolean;
}

/** Reads one connection. */
export function readStatements(): Reading {
  let isUnreadable = false;
  let hasAnsweredGreeting = false;
  const asked: Asked[] = [];
  const prepared = new Map<number, string>();
  const columnsOf = new Map<string, Column[]>();
  let newest = 0;
  const readPackets = packetReader(() => isUnreadable);

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
    if (sql === '') return { name: names[code] ?? 'OTHER', args: [], isSql: true };
    if (code === PREPARE) return { name: 'PREPARE', args: [`PREPARE ${sql}`], isSql: true };
    return { name: verbOf(sql), args: [sql], isSql: true };
  }

  function sqlIn(code: number, body: Buffer): string {
    // MySQL's own clients say first that there are no attributes.
    if (code === QUERY || code === PREPARE) return body.toString('utf8', body[1] === 0 ? 3 : 1);
    if (code !== EXECUTE && code !== BULK_EXECUTE) return '';
    const id = body.readUInt32LE(1);
    return prepared.get(id === NEWEST ? newest : id) ?? '';
  }

  /** What the first packet of a reply says. A result set is not known by that. */
  function begin({ code, sql }: Asked, { bytes, body }: Packet): string | Rows {
    const [mark] = body;
    if (mark === ERROR) return errorIn(body);
    if (mark === OK && code === PREPARE) {
      newest = body.readUInt32LE(1);
      prepared.set(newest, sql);
      return 'OK';
    }
    if (![QUERY, EXECUTE, BULK_EXECUTE].includes(code) || mark === END || mark === NULL) return 'OK';
    const values = valuesFrom(body, mark === OK ? 1 : 0);
    const count = Number(values.number());
    if (mark !== OK) {
      // MariaDB leaves the columns out where its client knows them.
      const known = body.length > values.at() && body.at(-1) === 0 ? (columnsOf.get(sql) ?? []) : undefined;
      const left = known === undefined ? count : 0;
      return { code, sql, kept: [bytes], columns: known ?? [], left, hasColumnsEnded: false };
    }
    values.number();
    const isOpen = (body.readUInt16LE(values.at()) & IN_TRANSACTION) !== 0;
    return `OK, ${count} changed${isOpen ? ', not committed' : ''}`;
  }

  /** What a further packet of a result set says. Undefined while it has no row. */
  function goOn(rows: Rows, { bytes, body }: Packet): string | undefined {
    rows.kept.push(bytes);
    if (body[0] === ERROR) return errorIn(body);
    if (rows.left > 0) {
      rows.columns.push(columnIn(body));
      rows.left -= 1;
      columnsOf.set(rows.sql, rows.columns);
      return undefined;
    }
    // Between columns and rows there is an end, unless the client has asked for none: then the one of the rows is longer.
    if (body[0] === END && body.length === 5 && !rows.hasColumnsEnded) {
      rows.hasColumnsEnded = true;
      return body.readUInt16LE(3) & HAS_CURSOR ? 'unknown' : undefined;
    }
    if (body[0] === END) return 'no row';
    return rows.code === QUERY ? textRow(rows.columns, body) : binaryRow(rows.columns, body);
  }

  return {
    greetings: new Set(),
    readCommands: (onCommand) =>
      readPackets((packet) => onCommand(packet.bytes, packet.number === undefined ? undefined : commandIn(packet))),
    readReplies(onReply) {
      let last = { number: 0, isEnd: true };
      let rows: Rows | undefined;
      return readPackets((packet) => {
        const { bytes, number = 0, body } = packet;
        // After 255 packets of a reply the numbers begin again.
        const isFirst = number === 1 && (last.number !== 0 || last.isEnd);
        last = { number, isEnd: body[0] === END };
        const question = isFirst ? asked.shift() : undefined;
        if (question === undefined && rows === undefined) return onReply({ bytes, isPush: true, text: '' });
        const said = question ? begin(question, packet) : goOn(rows as Rows, packet);
        if (said === undefined) return;
        const kept = question ? [bytes] : (rows as Rows).kept;
        rows = typeof said === 'string' ? undefined : said;
        if (typeof said === 'string') onReply({ bytes: Buffer.concat(kept), isPush: false, text: said });
      });
    },
  };
}

/** The first word of a statement, behind comments. */
function verbOf(sql: string): string {
  const [, verb = ''] = /^(?:\s|\(|\/\*.*?\*\/|(?:--|#)[^\n]*\n)*(\w+)/s.exec(sql) ?? [];
  return verb.toUpperCase();
}

/** Returns what takes bytes, split anywhere, and gives them on as packets, or as they come when they can't be read. */
function packetReader(isUnreadable: () => boolean) {
  return (onPacket: (packet: Packet) => void) => {
    let kept: Buffer = Buffer.alloc(0);
    return (chunk: Buffer) => {
      const bytes = kept.length > 0 ? Buffer.concat([kept, chunk]) : chunk;
      let at = 0;
      while (!isUnreadable() && bytes.length >= at + 4) {
        const end = at + 4 + bytes.readUIntLE(at, 3);
        if (end > bytes.length) break;
        onPacket({
          bytes: bytes.subarray(at, end),
          number: bytes.readUInt8(at + 3),
          body: bytes.subarray(at + 4, end),
        });
        at = end;
      }
      kept = bytes.subarray(at);
      if (!isUnreadable() || kept.length === 0) return;
      onPacket({ bytes: kept, body: Buffer.alloc(0) });
      kept = Buffer.alloc(0);
    };
  };
}

/** Its code and its words. */
const errorIn = (body: Buffer) => `error ${body.readUInt16LE(1)} ${body.toString('utf8', 9)}`;

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
    if (first === NULL) return undefined;
    if (first < NULL) return first;
    if (first === END) return Number(body.readBigUInt64LE(take(8)));
    const bytes = first === 0xfc ? 2 : 3;
    return body.readUIntLE(take(bytes), bytes);
  }

  return {
    at: () => at,
    take,
    number,
    signed: (bytes: number) =>
      bytes === 8 ? String(body.readBigInt64LE(take(8))) : String(body.readIntLE(take(bytes), bytes)),
    string(): string | undefined {
      const length = number();
      return length === undefined ? undefined : body.toString('utf8', take(length), at);
    },
  };
}

function columnIn(body: Buffer): Column {
  const values = valuesFrom(body, 0);
  // Catalogue, schema, table as it is called here, table, name as it is called here, name.
  const [, , , , alias = '', name = ''] = Array.from({ length: 6 }, values.string);
  return { name: name || alias, type: body.readUInt8(body.length - 6) };
}

const rowOf = (columns: Column[], textOf: (column: Column, index: number) => string | undefined) =>
  columns.map((column, index) => `${column.name}=${textOf(column, index) ?? 'NULL'}`).join(' ') || 'unknown';

function textRow(columns: Column[], body: Buffer): string {
  const values = valuesFrom(body, 0);
  return rowOf(columns, () => values.string());
}

/** How many bytes a number has, by its type. */
const integers: Record<number, number> = { 1: 1, 2: 2, 3: 4, 8: 8, 9: 4, 13: 2 };
const reals: Record<number, number> = { 4: 4, 5: 8 };

function binaryRow(columns: Column[], body: Buffer): string {
  const values = valuesFrom(body, 1 + Math.floor((columns.length + 9) / 8));
  return rowOf(columns, ({ type }, index) => {
    const bit = index + 2;
    if (((body[1 + (bit >> 3)] ?? 0) >> (bit & 7)) & 1) return 'NULL';
    const bytes = integers[type];
    if (bytes !== undefined) return values.signed(bytes);
    // Dates, too, come as so many bytes behind their length.
    if (reals[type] === undefined) return values.string();
    values.take(reals[type]);
    return 'unknown';
  });
}
