// npm run reconcile: compares the stock with the orders, and lists what a crash left inconsistent. --repair fixes it.

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

/** How long the accounts must stay unchanged before they are trusted, in milliseconds. */
const STILL_FOR_MS = 300;
/** How long to wait for the first reply from Redis, in milliseconds. */
const REDIS_LIMIT_MS = 1_000;
/** The most intents to list, and the most orders of each kind. */
const LISTED = 20;

const REPAIR = callOf('reconcile', '--repair');
const flags = process.argv.slice(2);
if (flags.some((flag) => flag !== '--repair')) {
  exitWithSettingError(`It takes one flag, as in ${REPAIR}. For its settings see .env.example.`);
}
loadEnvFile();
const { MYSQL_URL, REDIS_URL, STOCK_CACHE } = readSettingsOrExit(
  inventorySettings.pick({ MYSQL_URL: true, REDIS_URL: true, STOCK_CACHE: true }),
  process.env,
);
if (MYSQL_URL === undefined) exitWithSettingError('MYSQL_URL is not set: it says where the orders are.');

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
  if (!isThere) throw new Error('Redis does not reply.');
}

/** Reads the accounts twice; both must agree, because during a sale a unit in flight looks like a lost unit. */
async function readTwice(): Promise<Accounts> {
  const before = await readAccounts(mysql, store);
  await sleep(STILL_FOR_MS);
  const after = await readAccounts(mysql, store);
  if (isSame(before, after)) return after;
  throw new NotNow('Sales are in flight: the accounts changed while they were read. Try again when nobody is selling.');
}

/**
 * A line for each sku whose two stores differ in both readings. A key missing in Redis is read from MySQL and is not a
 * difference.
 */
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
    throw new NotNow(`Sales may be in flight: ${plural(alive.length, 'recent intent')}. Try again in ${seconds} s.`);
  }
  const { units, intents } = await repair(mysql, store, accounts);
  const back = units === 1 ? '1 unit returned to stock' : `${units} units returned to stock`;
  console.log(`Repaired: ${back}, ${plural(intents, 'intent')} settled.\n`);
}

function isExplained({ holdings }: Accounts) {
  return holdings.every((one) => isIdle(one) || balance(one)?.unexplained === 0);
}

/** Nothing was ever supplied, and no unit exists. */
function isIdle({ supply = 0, ...one }: Holdings) {
  return supply + one.inStock + one.unpaid + one.paid + one.refunded + one.owed + one.unrestored + one.intended === 0;
}

function describe({ holdings, intents, unrestored }: Accounts) {
  const shown = holdings.filter((one) => !isIdle(one));
  if (shown.length === 0) return 'There is no stock, and there are no orders.';
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
    'supply = in stock + unpaid + paid + refunded + in doubt + unexplained. Closed orders return their units.',
    ...describeIntents(intents),
    ...describeUnrestored(unrestored),
    ...unsupplied.map((sku) => `The stock of sku ${sku} was not set through the admin API, so its supply is unknown.`),
    total === 0
      ? unsupplied.length === 0
        ? 'Every unit is accounted for.'
        : ''
      : `Unexplained: ${plural(total, 'unit')}.`,
  ]
    .filter((line) => line !== '')
    .join('\n');
}

function describeIntents(intents: Intent[]) {
  if (intents.length === 0) return [];
  return [
    `${plural(intents.length, 'intent')} left by sales that ended before they wrote their order, or that are in flight:`,
    ...listed(
      intents,
      ({ id, sku, node, lock, ageMs }) => `${id}  sku ${sku}, ${node}, ${lock}, ${Math.round(ageMs / 1_000)} s ago`,
    ),
    `${REPAIR} returns the missing units to stock.`,
  ];
}

function describeUnrestored(unrestored: Unrestored[]) {
  if (unrestored.length === 0) return [];
  return [
    `${plural(unrestored.length, 'closed order')} whose units are not recorded as returned in MySQL:`,
    ...listed(unrestored, ({ id, sku, isRestored }) => {
      if (isRestored === undefined) return `${id}  sku ${sku}, unknown whether its units are back`;
      return `${id}  sku ${sku}, its units are ${isRestored ? '' : 'not '}back`;
    }),
    `The next cleanup job settles orders that were closed in the last 12 hours; ${REPAIR} settles all.`,
  ];
}

function describeDeadLetters(letters: Awaited<ReturnType<typeof readDeadLetters>>) {
  if (letters.length === 0) return [];
  return [
    `${plural(letters.length, 'order')} dead-lettered: the cleanup job skips them until you delete their rows in tb_dead_letter.`,
    ...listed(letters, ({ id, reason }) => `${id}  ${reason}`),
  ];
}

/** The first entries, one per line, and how many more there are. */
function listed<T>(all: T[], line: (one: T) => string) {
  const more = all.length - LISTED;
  return [...all.slice(0, LISTED).map((one) => `  ${line(one)}`), ...(more > 0 ? [`  and ${more} more`] : [])];
}

function plural(count: number, noun: string) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
