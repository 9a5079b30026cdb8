import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readSaid, readSale } from '../../../../loadtest/worlds/foreign/said.ts';
import { makeTempDir } from '../../../../stack/parts.ts';

/** The folder `name`, with this lockstep.json; none when it is not given. */
function folderWith(file: string | object | undefined, name = 'my-shop') {
  const temp = makeTempDir();
  onTestFinished(temp.remove);
  const folder = join(temp.dir, name);
  mkdirSync(folder);
  const text = typeof file === 'object' ? JSON.stringify(file) : file;
  if (text !== undefined) writeFileSync(join(folder, 'lockstep.json'), text);
  return { dir: temp.dir, folder };
}

test('a folder: what its lockstep.json says; it works in that folder, and is called like it', () => {
  const sale = 'POST /buy {"sku":"001"}';
  const { dir, folder } = folderWith({ command: 'php shop.php', build: 'make', sale, stock: 'shop:42', leaseMs: 400 });

  expect(readSaid('my-shop', dir)).toEqual({
    command: 'php shop.php',
    build: 'make',
    dir: folder,
    name: 'my-shop',
    sale: { method: 'POST', path: '/buy', json: '{"sku":"001"}' },
    stock: 'shop:42',
    leaseMs: 400,
  });
  expect(readSaid(folderWith({ command: 'x', name: 'shop' }).folder, '/').name).toBe('shop');
});

test.each<[what: string, file: string | object | undefined, message: RegExp]>([
  ['without a lockstep.json', undefined, /my-shop is a folder without a lockstep\.json\. Pass a command, such as/],
  ['with one that is not JSON', '{command}', /lockstep\.json is not JSON: /],
  ['with one that is no object', '[]', /lockstep\.json is not allowed: .*expected object/],
  ['with one that starts nothing', { stock: 'a' }, /lockstep\.json is not allowed: .*at command/s],
  ['with a member that nobody knows', { command: 'x', stok: 'a' }, /lockstep\.json is not allowed: .*"stok"/],
  ['with a lease that is no number', { command: 'x', leaseMs: '400' }, /not allowed: .*at leaseMs/s],
  ['with a name that is a path', { command: 'x', name: '../x' }, /not allowed: .*at name/s],
  ['with a sale that is none', { command: 'x', sale: '/buy' }, /"\/buy" does not say how to buy a unit/],
])('a folder %s: a sentence', (_what, file, message) => {
  const { dir } = folderWith(file);

  expect(() => readSaid('my-shop', dir)).toThrow(message);
});

test.each([
  ['java -jar target/shop.jar', 'shop.jar'],
  ['PORT=1 python3 -u shop.py --fast', 'shop.py'],
  ['STAGE=5 exec java -cp examples/java Shop', 'Shop'],
  ['./shop', 'shop'],
  ['php -S 127.0.0.1:$PORT shop.php', 'shop.php'],
  ['启动', 'service'],
])('a command: %s works where it is typed, and is called %s', (command, name) => {
  const { dir } = folderWith(undefined);

  expect(readSaid(command, dir)).toEqual({ command, dir, name });
});

test.each([
  ['GET /sale?sku=001', { method: 'GET', path: '/sale?sku=001' }],
  [' POST /buy ', { method: 'POST', path: '/buy' }],
  ['POST /buy [1, 2]', { method: 'POST', path: '/buy', json: '[1, 2]' }],
])('how a unit is bought: %s', (text, sale) => {
  expect(readSale(text)).toEqual(sale);
});

test.each(['', '/buy', 'PUT /buy', 'post /buy', 'POST buy', 'POST http://shop/buy', 'POST /buy twice'])(
  'how a unit is bought: "%s" does not say it, and what does is said',
  (text) => {
    expect(() => readSale(text)).toThrow(/does not say how to buy a unit\. Write it as "POST \/buy"/);
  },
);

test('how a unit is bought: a body that is not JSON', () => {
  expect(() => readSale('POST /buy {"a"')).toThrow('The body in POST /buy {"a" is not JSON: ');
});
