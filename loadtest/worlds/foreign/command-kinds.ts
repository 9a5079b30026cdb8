// Classifies the commands of a service that is known only by its traffic: their keys and kinds.

import { createHash } from 'node:crypto';
import { Command as RedisCommand } from 'ioredis';
import type { Command } from '../../../stack/proxy/link.ts';
import type { Reply } from '../../../stack/proxy/replies.ts';
import type { ServiceTold } from '../../evidence/judgement.ts';
import type { RowPlace } from './stock-row.ts';

/** What tells the stock. */
const reading = new Set(['GET', 'MGET', 'GETRANGE', 'HGET', 'HMGET', 'HGETALL']);
/** What looks at a key without telling or changing what is in it. */
const looking = new Set('WATCH EXISTS TTL PTTL TYPE STRLEN HLEN HEXISTS EXPIRE PEXPIRE PERSIST'.split(' '));
const runsScript = /^(EVAL|FCALL)/;

/** The keys that a command names: as ioredis knows them, and of a command of a module the first argument. A channel is none. */
export function keysOf({ name, args, isSql }: Command): string[] {
  if (isSql || /SUBSCRIBE$|^SPUBLISH$/.test(name)) return [];
  return name.includes('.') ? args.slice(0, 1) : new RedisCommand(name.toLowerCase(), args).getKeys().map(String);
}

/** The kind of a command: its name and script, the same for an EVAL and its EVALSHA; for a statement its text without literals. */
export function kindOf({ name, args: [first = ''], isSql }: Command): string {
  if (isSql) return withoutLiterals(first) || name;
  if (!runsScript.test(name)) return name;
  if (name.startsWith('FCALL')) return `function ${first}`;
  const sha = name.startsWith('EVALSHA') ? first.toLowerCase() : createHash('sha1').update(first).digest('hex');
  return `script ${sha.slice(0, 8)}`;
}

/** A statement without what differs from sale to sale: comments, strings and numbers. */
const withoutLiterals = (sql: string) =>
  sql
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|\b\d+(?:\.\d+)?\b/gs, '?')
    .replace(/\s+/g, ' ')
    .trim();

/** As it is shown: a script by its kind, then its keys and arguments. */
export function toldCommand(command: Command): string {
  const { name, args, isSql } = command;
  if (isSql) return shortened(args[0] ?? name);
  const words = runsScript.test(name) ? [kindOf(command), ...args.slice(2)] : [name, ...args];
  return shortened(words.join(' '));
}

/** A reply for display: of a row only the stock. */
export function toldReply({ text, row: found }: Reply, row: StockPlace['row']): string {
  if (!row || !found) return text;
  const units = unitsIn(found, row);
  return units === undefined ? '…' : `${row.column}=${units}`;
}

/** The stock in a row that was read. */
export function unitsIn(found: Map<string, string>, { column }: NonNullable<StockPlace['row']>): string | undefined {
  return [...found].find(([name]) => name.toLowerCase() === column.toLowerCase())?.[1];
}

/** Shortens a text to one line. */
export const shortened = (text: string, most = 90) => text.replace(/\s+/g, ' ').trim().slice(0, most);

/** Where the stock is: its key, or its table and column. */
export interface StockPlace {
  stock: string;
  row?: Pick<RowPlace, 'table' | 'column'> | undefined;
}

/** True for a command that names the stock: as a key, or, of a script, among its arguments or in its text; for a statement that reads or writes it. */
export function names(command: Command, { stock: key, row }: StockPlace): boolean {
  const { name, args, isSql } = command;
  if (row) return isSql === true && isOfRow(command, row);
  if (keysOf(command).includes(key)) return true;
  return (
    runsScript.test(name) && (args.includes(key) || [`'${key}'`, `"${key}"`].some((text) => args[0]?.includes(text)))
  );
}

/** A reading of all columns does not name the one. */
function isOfRow({ name, args: [sql = ''] }: Command, { table, column }: NonNullable<StockPlace['row']>): boolean {
  const has = (word: string) => new RegExp(`\\b${word}\\b`, 'i').test(sql);
  return has(table) && (name === 'SELECT' || name === 'UPDATE') && (has(column) || /^[^(]*\*/.test(sql));
}

/** How a sale reads the stock and writes it, from the commands of one that nobody disturbed. Undefined when none of them wrote it. */
export function stockKindsOf(commands: Command[], stock: StockPlace): Pick<ServiceTold, 'read' | 'write'> | undefined {
  const own = commands.filter((command) => names(command, stock) && !looking.has(command.name));
  const write = own.findLast(({ name, isSql }) => (isSql ? name === 'UPDATE' : !reading.has(name)));
  if (write === undefined) return undefined;
  const [first] = own;
  return { read: first === write || first === undefined ? undefined : kindOf(first), write: kindOf(write) };
}

/** The keys that may be the stock: those that these commands read, or decrement in one step. If there are none, the keys of scripts. */
export function stocksAmong(commands: Command[]): string[] {
  const claimed = new Set(commands.filter(isClaim).flatMap(keysOf));
  const among = (isCandidate: (command: Command) => boolean) =>
    [...new Set(commands.filter(isCandidate).flatMap(keysOf))].filter((key) => !claimed.has(key));
  const read = among(({ name }) => reading.has(name) || /^(DECR|HINCRBY)/.test(name));
  return read.length > 0 ? read : among(({ name }) => runsScript.test(name));
}

/** True for a command that makes a key which was not there, or takes it away. */
function isClaim(command: Command): boolean {
  const { name, args } = command;
  const ifNew = name === 'SET' && args.some((arg) => arg.toUpperCase() === 'NX');
  return ifNew || ['SETNX', 'HSETNX', 'DEL', 'UNLINK'].includes(name);
}

/** The field of this key that these commands read, or take from in one step, where it is a hash and they name one field. */
export function fieldOf(commands: Command[], key: string): string | undefined {
  const one = commands.find(({ name, args }) => ['HGET', 'HINCRBY', 'HMGET'].includes(name) && args[0] === key);
  return one?.args[1];
}

/** The lease that a command sets, in milliseconds, from PX, EX or its own argument. Undefined when it sets none. */
export function leaseIn({ name, args }: Command): number | undefined {
  const after = (word: string) => args[args.findIndex((arg) => arg.toUpperCase() === word) + 1];
  const has = (word: string) => args.some((arg) => arg.toUpperCase() === word);
  if (name === 'SET' && has('PX')) return Number(after('PX'));
  if (name === 'SET' && has('EX')) return 1_000 * Number(after('EX'));
  if (name === 'PEXPIRE' || name === 'PSETEX') return Number(args[1]);
  if (name === 'EXPIRE' || name === 'SETEX') return 1_000 * Number(args[1]);
  return undefined;
}

/** The stock that a command writes, if it is among its arguments. */
export function stockIn({ name, args }: Command): number | undefined {
  const value = Number({ SET: args[1], GETSET: args[1], HSET: args[2], SETEX: args[2], PSETEX: args[2] }[name]);
  return Number.isInteger(value) ? value : undefined;
}

/** True for a kind of UPDATE that puts a number of its own there, and has no condition beside that for the row. */
export const setsAnew = (kind: string, { column }: NonNullable<StockPlace['row']>) =>
  new RegExp(`\\b${column}\\W*=\\s*\\?`, 'i').test(kind.split(/\bWHERE\b/i)[0] ?? '') &&
  !/\bWHERE\b.*\bAND\b/i.test(kind);

/** True for a kind of write that Redis takes whatever has happened since its sale read, when it is in no transaction. */
export const isPlain = (kind: string) => ['SET', 'HSET', 'HMSET', 'GETSET', 'SETEX', 'PSETEX'].includes(kind);
