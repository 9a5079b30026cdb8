import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { beforeAll, expect, test } from 'vitest';
import { openStockRow, readRowPlace } from '../../../../loadtest/worlds/foreign/stock-row.ts';
import { makeTempDir } from '../../../../stack/parts.ts';
import { freePort } from '../../../../stack/ports.ts';
import { cleanUpLater } from '../../../clean-up.ts';
import { sharedMysql } from '../../../own-stack.ts';
import { ownRuns } from '../../../scripts/command-under-test.ts';

const run = ownRuns('scripts/judge.ts');
const PASSWORD = 'of-the-shop';
let url: string;
let client: Awaited<ReturnType<typeof createConnection>>;

beforeAll(async () => {
  const ofRoot = await (await sharedMysql()).database('goods');
  client = await createConnection(ofRoot);
  cleanUpLater(() => client.destroy());
  const [database, user] = [new URL(ofRoot).pathname.slice(1), `user_${new URL(ofRoot).pathname.slice(1)}`];
  await client.query('CREATE TABLE goods (id INT PRIMARY KEY, name VARCHAR(9), qty INT, version INT DEFAULT 0)');
  await client.query("INSERT INTO goods VALUES (42, 'pen', 7, 0), (43, 'cup', 9, 0)");
  await client.query(`CREATE USER ? IDENTIFIED BY '${PASSWORD}'`, [user]);
  await client.query(`GRANT ALL ON ${database}.* TO ?`, [user]);
  url = Object.assign(new URL(ofRoot), { username: user, password: PASSWORD }).href;
});

const open = (query: string, address = url) => openStockRow(readRowPlace(`${address}?${query}`));

test.each([
  ['another machine', 'mysql://a:b@10.0.0.1/shop?table=goods&column=qty', 'only a MySQL on this machine'],
  ['TLS', 'mysqls://a:b@127.0.0.1/shop?table=goods&column=qty', 'without TLS'],
  ['no column', 'mysql://a:b@127.0.0.1/shop?table=goods', 'a table and a column'],
  ['more than a name', 'mysql://a:b@127.0.0.1/shop?table=goods&column=qty`--', 'of letters, digits and _'],
  ['a condition', 'mysql://a:b@127.0.0.1/shop?table=goods&column=qty&where=1', 'of letters, digits and _'],
])('a stock in MySQL: %s is refused', (_what, text, sentence) => {
  expect(() => readRowPlace(text)).toThrow(sentence);
});

test.each([
  ['table=wares&column=qty', /^There is no wares\.qty.*doesn't exist/],
  ['table=goods&column=units', /^There is no goods\.units.*Unknown column/],
  ['table=goods&column=qty', 'There is more than one row'],
  ['table=goods&column=qty&where=id=44', 'There is no row'],
  ['table=goods&column=name&where=id=42', 'is not a whole number'],
])('a stock in MySQL: %s is answered "%s"', async (query, sentence) => {
  await expect(open(query)).rejects.toThrow(sentence);
});

test('a stock in MySQL: nobody there, and a password that is wrong, are told apart', async () => {
  const query = 'table=goods&column=qty&where=id=42';
  const nobody = Object.assign(new URL(url), { port: String(await freePort()) }).href;
  const wrong = Object.assign(new URL(url), { password: 'another' }).href;

  await expect(open(query, nobody)).rejects.toThrow(/^MySQL does not respond for goods\.qty.*Start MySQL/);
  await expect(open(query, wrong)).rejects.toThrow(/^MySQL refuses .*Access denied/);
});

test('judge: a stock in MySQL under a lock in Redis loses a sale to a late write, and is left as it was', async () => {
  const { dir, remove } = makeTempDir();
  cleanUpLater(remove);
  const stock = `${url}?table=goods&column=qty&where=id=42`;
  const shop = `node ${join(import.meta.dirname, 'sql-shop.mjs')}`;
  const told = [...['--stock', stock], ...['--sale', 'POST /buy'], ...['--requests', '20'], ...['--reports', dir]];

  const { stdout } = await run([shop, ...told, '--drill', 'rush,crossed-write']);

  expect(stdout).toContain(
    'read by SELECT qty FROM goods WHERE id = ?, written by UPDATE goods SET qty = ? WHERE id = ?',
  );
  expect(stdout).toMatch(/✔ rush/);
  expect(stdout).toMatch(/✘ crossed-write/);
  const [rows] = await client.query<RowDataPacket[]>('SELECT * FROM goods ORDER BY id');
  expect(rows.map(({ qty }) => qty)).toEqual([7, 9]);
  const kept = ['judge.json', 'report.html'].map((file) => readFileSync(join(dir, 'latest-judge', file), 'utf8'));
  expect([stdout, ...kept].filter((text) => text.includes(PASSWORD))).toEqual([]);
});
