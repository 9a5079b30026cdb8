// npm run reconcile: compares the stock with the orders, and lists what a crash between the two has left. --repair settles it.

import { setTimeout as sleep } from 'node:timers/promises';
import Table from 'cli-table3';
import type { RowDataPacket } from 'mysql2/promise';
import {
  type Accounts,
  balance,
  type Holdings,
  type Intent,
  isSame,
  NotNow,
  readAccounts,
  repair,
  type Unrestored,
} from '../services/inventory/orders/accounts.ts';
import { readDeadLetters } from '../services/inventory/orders/dead-letters.ts';
import { connectOrders } from '../services/inventory/orders/order-store.ts';
import { connectStore } from '../services/inventory/servers/store.ts';
import { loadEnvFile } from '../services/inventory/settings/env-file.ts';
import { exitWithSettingError, withoutPassword } from '../services/inventory/settings/setting-error.ts';
import { inventorySettings, readSettingsOrExit } from '../services/inventory/settings/settings.ts';
import { callOf } from '../stack/call-of.ts';

/** How long nothing may move before the accounts are believed, in milliseconds. */
const STILL_FOR_MS = 300;
/** How long Redis may take to answer first, in milliseconds. */
const REDIS_LIMIT_MS = 1_000;
/** How many intents are listed at most, and how many orders of each kind. */
const LISTED = 20;

const REPAIR = callOf('reconcile', '--repair');
const flags = process.argv.slice(2);
if (flags.some((flag) => flag !== '--repair')) {
  exitWithSettingError(`It takes one flag, as in ${REPAIR}. Its settings are in .env.example.`);
}
loadEnvFile();
const { MYSQL_URL, REDIS_URL, STOCK_CACHE } = readSettingsOrExit(
  inventorySettings.pick({ MYSQL_URL: true, REDIS_URL: true, STOCK_CACHE: true }),
  process.env,
);
if (MYSQL_URL === undefined) exitWithSettingError('MYSQL_URL is not set: it names where the orders are.');

const mysql = connectOrders(MYSQL_URL, 1);
const store = connectStore(REDIS_URL);
try {
  await reachRedis();
  // There are no orders then, and nothing to settle: the two stores are compared.
  if (STOCK_CACHE !== 'off') {
    const differing = await readDiffering();
    console.log(differing.join('\n') || 'MySQL and Redis have the same stock.');
    process.exit(differing.length === 0 ? 0 : 1);
  }
  // First: a stock that is no number keeps its order from the clean-up, and the accounts from being read.
  for (const line of describeDeadLetters(await readDeadLetters(mysql))) console.log(line);
  let accounts = await readTwice();
  if (flags.includes('--repair')) {
    await settle(accounts);
    accounts = await readTwice();
  }
  console.log(describe(accounts));
  process.exitCode = isExplained(accounts) ? 0 : 1;
} catch (error) {
  process.exitCode = 2;
  const why = error instanceof Error ? error.message || error.name : String(error);
  console.error(withoutPassword(error instanceof NotNow ? why : `The accounts could not be read: ${why}`));
}
// Not by itself: a connection that is being made would keep it.
process.exit();

async function reachRedis() {
  const isThere = await Promise.race([store.back().then(() => true), sleep(REDIS_LIMIT_MS, false)]);
  if (!isThere) throw new Error('Redis does not answer.');
}

/** Reads the accounts at two moments, which must agree: while a node sells, a unit on its way looks like a lost one. */
async function readTwice(): Promise<Accounts> {
  const before = await readAccounts(mysql, store);
  await sleep(STILL_FOR_MS);
  const after = await readAccounts(mysql, store);
  if (isSame(before, after)) return after;
  throw new NotNow('Sales are in flight: the accounts have changed while they were read. Try again when nobody sells.');
}

/** A line for each sku whose stores differ at two moments. A key that Redis has not is read from MySQL, and no difference. */
async function readDiffering(): Promise<string[]> {
  const before = await compare();
  await sleep(STILL_FOR_MS);
  const after = await compare();
  return after.filter((line) => before.includes(line));

  async function compare() {
    const [rows] = await mysql.query<RowDataPacket[]>('SELECT sku, stock FROM tb_stock ORDER BY sku');
    const lines = rows.map(async ({ sku, stock }) => {
      const cached = await store.inBuckets(1).readStock(sku);
      return cached === undefined || cached === stock ? [] : [`sku ${sku}: MySQL has ${stock}, Redis ${cached}.`];
    });
    return (await Promise.all(lines)).flat();
  }
}

async function settle(accounts: Accounts) {
  const alive = accounts.intents.filter(({ aliveMs }) => aliveMs > 0);
  if (alive.length > 0) {
    const seconds = Math.ceil(Math.max(...alive.map(({ aliveMs }) => aliveMs)) / 1_000);
    throw new NotNow(`Sales may be in flight: ${plural(alive.length, 'intent')} of late. Try again in ${seconds} s.`);
  }
  const { units, intents } = await repair(mysql, store, accounts);
  const back = units === 1 ? '1 unit is back in stock' : `${units} units are back in stock`;
  console.log(`Repaired: ${back}, ${plural(intents, 'intent')} settled.\n`);
}

function isExplained({ holdings }: Accounts) {
  return holdings.every((one) => isIdle(one) || balance(one)?.unexplained === 0);
}

/** Nothing was ever supplied, and nothing is there. */
function isIdle({ supply = 0, ...one }: Holdings) {
  return supply + one.inStock + one.unpaid + one.paid + one.refunded + one.owed + one.unrestored + one.intended === 0;
}

function describe({ holdings, intents, unrestored }: Accounts) {
  const shown = holdings.filter((one) => !isIdle(one));
  if (shown.length === 0) return 'Nothing was put in stock, and nothing is ordered.';
  const table = new Table({
    head: ['sku', 'stock in', 'supply', 'in stock', 'unpaid', 'paid', 'refunded', 'in doubt', 'unexplained', 'closed'],
    colAligns: ['left', 'left', ...Array(8).fill('right')],
    style: { head: [], border: [] },
  });
  for (const one of shown) {
    const { inDoubt = '–', unexplained = '–' } = balance(one) ?? {};
    const { sku, stockIn, supply = '–', inStock, unpaid, paid, refunded, restored, owed, unrestored } = one;
    const closed = restored + owed + unrestored;
    table.push([sku, stockIn, supply, inStock, unpaid, paid, refunded, inDoubt, unexplained, closed]);
  }
  const total = shown.reduce((sum, one) => sum + Math.abs(balance(one)?.unexplained ?? 0), 0);
  const unsupplied = shown.filter(({ supply }) => supply === undefined).map(({ sku }) => sku);
  return [
    table.toString(),
    'supply = in stock + unpaid + paid + refunded + in doubt + unexplained. Closed orders give their units back.',
    ...describeIntents(intents),
    ...describeUnrestored(unrestored),
    ...unsupplied.map((sku) => `Nobody has put sku ${sku} in stock through a lab listener: its supply is not known.`),
    total === 0 ? (unsupplied.length === 0 ? 'Nothing is unexplained.' : '') : `Unexplained: ${plural(total, 'unit')}.`,
  ]
    .filter((line) => line !== '')
    .join('\n');
}

function describeIntents(intents: Intent[]) {
  if (intents.length === 0) return [];
  return [
    `${plural(intents.length, 'intent')} left: of sales that ended between the stock and the order, or before, or that are in flight.`,
    ...listed(
      intents,
      ({ id, sku, node, lock, ageMs }) => `${id}  sku ${sku}, ${node}, ${lock}, ${Math.round(ageMs / 1_000)} s ago`,
    ),
    `${REPAIR} puts what is missing of them back in stock.`,
  ];
}

function describeUnrestored(unrestored: Unrestored[]) {
  if (unrestored.length === 0) return [];
  return [
    `${plural(unrestored.length, 'closed order')} of which MySQL does not say that the units are back in stock.`,
    ...listed(unrestored, ({ id, sku, isRestored }) => {
      if (isRestored === undefined) return `${id}  sku ${sku}, nobody knows whether its units are back`;
      return `${id}  sku ${sku}, its units are ${isRestored ? '' : 'not '}back`;
    }),
    `The next clean-up settles those that were closed in the last half day; ${REPAIR} settles all.`,
  ];
}

function describeDeadLetters(letters: Awaited<ReturnType<typeof readDeadLetters>>) {
  if (letters.length === 0) return [];
  return [
    `${plural(letters.length, 'order')} put aside: the clean-up does not try them until their rows in tb_dead_letter are deleted.`,
    ...listed(letters, ({ id, reason }) => `${id}  ${reason}`),
  ];
}

/** The first of them, a line for each, and how many more there are. */
function listed<T>(all: T[], line: (one: T) => string) {
  const more = all.length - LISTED;
  return [...all.slice(0, LISTED).map((one) => `  ${line(one)}`), ...(more > 0 ? [`  and ${more} more`] : [])];
}

function plural(count: number, noun: string) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
