// What a user says about a service: on the command line, or in a `lockstep.json` beside it.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import type { Wire } from '../../harness/wire.ts';
import type { StockRow } from './stock-row.ts';

/** The file in the folder of a service that says how it is judged. */
export const SAID_FILE = 'lockstep.json';

const fileSchema = z.strictObject({
  /** What starts a copy. */
  command: z.string().min(1),
  /** What is run once before, such as a compiler. */
  build: z.string().min(1).optional(),
  name: z
    .string()
    .regex(/^[\w.-]{1,40}$/)
    .optional(),
  sale: z.string().transform(readSale).optional(),
  /** The key of the stock, and the field where that is a hash. Or where it is in MySQL, as an address. */
  stock: z.string().min(1).optional(),
  field: z.string().min(1).optional(),
  /** What is in the answer to a sale, and in the one of an empty shop. */
  sold: z.string().min(1).optional(),
  soldOut: z.string().min(1).optional(),
  /** How long the lease of its lock is, in milliseconds. */
  leaseMs: z.int().min(1).max(3_600_000).optional(),
});

export type SaidInFile = z.input<typeof fileSchema>;

export interface SaidOfService extends z.output<typeof fileSchema> {
  /** The folder that it works in. */
  dir: string;
  name: string;
}

/** Copies that are already running. */
export interface Running {
  /** The copies, such as `http://127.0.0.1:8081`. */
  urls: string[];
  redisUrl: string;
  /** The key of their stock. */
  stock: string;
}

/** Everything that a user may configure. What is missing is learned. */
export interface Said extends Partial<SaidOfService> {
  running?: Running | undefined;
  /** The stock, where that is in MySQL. */
  row?: StockRow | undefined;
}

/** The request that buys a unit. */
export type Sale = Wire['sale'];

/** Reads the configuration of a service, given as a command or as a folder with a `lockstep.json`. Throws a sentence. */
export function readSaid(given: string, from: string): SaidOfService {
  const folder = resolve(from, given);
  const isFolder = existsSync(folder) && statSync(folder).isDirectory();
  if (!isFolder) return { command: given, dir: from, name: nameOf(given) };
  const file = join(folder, SAID_FILE);
  if (!existsSync(file))
    throw new Error(`${given} is a folder without a ${SAID_FILE}. Pass a command, such as "java -jar shop.jar".`);
  const read = fileSchema.safeParse(parse(readFileSync(file, 'utf8'), file));
  if (!read.success) {
    const allowed = Object.keys(fileSchema.shape).join(', ');
    throw new Error(`${file} is not allowed: ${z.prettifyError(read.error)}\nIt may have: ${allowed}.`);
  }
  return { name: basename(folder), ...read.data, dir: folder };
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${what} is not JSON: ${(error as Error).message}`);
  }
}

/** Parses `POST /buy`, followed by a JSON body if there is one. Throws a sentence. */
export function readSale(text: string): Sale {
  const [, method, path, json] = /^(GET|POST) (\/\S*)(?: ([[{].*))?$/s.exec(text.trim()) ?? [];
  if (method === undefined || path === undefined)
    throw new Error(
      `"${text}" does not say how to buy a unit. Write it as "POST /buy", followed by a JSON body if there is one.`,
    );
  if (json !== undefined) parse(json, `The body in ${text}`);
  return { method: method as 'GET' | 'POST', path, ...(json !== undefined && { json }) };
}

/** The program among the words of a command: what a person would call it. */
function nameOf(command: string): string {
  const words = command.split(/\s+/).filter((word) => !/^-|=/.test(word));
  const file = words.find((word) => /\.\w+$/.test(word)) ?? words.at(-1) ?? 'service';
  return basename(file).replace(/[^\w.-]/g, '') || 'service';
}
