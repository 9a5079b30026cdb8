import { describe, expect, test } from 'vitest';
import type { SaleAnswer } from '../../../../loadtest/evidence/answers.ts';
import { type SeenWire, seeSales } from '../../../../loadtest/worlds/foreign/sales-seen.ts';
import type { SaleEvent } from '../../../../services/inventory/sale/contract.ts';
import { asRead } from '../../../../simulation/scripts.ts';
import type { Command, Exchange } from '../../../../stack/proxy/link.ts';

const sold: SaleAnswer = { outcome: 'sold' };
const soldOut: SaleAnswer = { outcome: 'soldOut', code: 'OUT_OF_STOCK' };
const busy: SaleAnswer = { outcome: 'lockTimeout', code: 'LOCK_WAIT_TIMEOUT' };

/** A service that locks `lock`, and reads and writes `stock`. */
const wire: SeenWire = {
  isShared: false,
  isStockRead: ({ name, args }) => name === 'GET' && args[0] === 'stock',
  isStockWrite: ({ name, args }) => ['SET', 'EVAL'].includes(name) && args.includes('stock'),
  isOfLock: ({ args }) => args[0] === 'lock',
  readUnits: ({ reply: { text } }) => Number(text),
  hasWritten: ({ reply }) => ['OK', '1'].includes(reply.text),
};

/** A node whose wire and requests are what a test says. Each step is one millisecond. */
function node({ isKnown = true, isShared = false } = {}) {
  const told: SaleEvent[] = [];
  let ms = 0;
  let see: (command: Command) => void = () => {};
  let seeReply: (exchange: Exchange) => void = () => {};
  const link = {
    watch: (given: typeof see) => {
      see = given;
    },
    watchReplies: (given: typeof seeReply) => {
      seeReply = given;
    },
  } as unknown as Parameters<typeof seeSales>[0]['link'];
  const clock = { now: () => ms } as Parameters<typeof seeSales>[0]['clock'];
  const sales = seeSales(
    { name: 'node-1', link, clock },
    () => (isKnown ? { ...wire, isShared } : undefined),
    (event) => told.push(event),
  );

  /** A command comes on a connection, and its reply: none when that is held or lost. */
  function send(connection: number, line: string, text?: string) {
    ms += 1;
    const command = { ...asRead(line.split(' ')), connection };
    see(command);
    if (text === undefined) return;
    const reply = { bytes: Buffer.from(text), isPush: false, text };
    seeReply({ command, sentAt: ms, reply, at: ms });
  }

  return {
    sales,
    send,
    /** A sale comes, and sends all of this on its connection. */
    sends(connection: number, ...lines: [line: string, text?: string][]) {
      sales.came();
      for (const [line, text] of lines) send(connection, line, text);
    },
    /** What was told since this was last asked: which sale, what it does, and the stock or the code with it. */
    told: () =>
      told
        .splice(0)
        .map(({ saleId, type, stock, code }) => [Number(saleId), type, stock ?? code].filter((x) => x !== undefined))
        .map((words) => words.join(' ')),
    events: told,
  };
}

const acquire: [string, string] = ['SET lock me NX PX 400', 'OK'];
const release: [string, string] = ['DEL lock', '1'];
const read = (stock: number): [string, string] => ['GET stock', String(stock)];
const write = (stock: number): [string, string] => [`SET stock ${stock}`, 'OK'];

describe('the sales of a node, seen on its wire', () => {
  test('a sale waits for the lock, enters when it reads, and leaves when it has written', () => {
    const { sales, sends, events } = node();

    sends(1, acquire, read(10), write(9), release);
    sales.ended(sold);

    const of = { node: 'node-1', saleId: '0001' };
    expect(events).toEqual([
      { at: 1, type: 'waiting', ...of },
      { at: 2, type: 'entered', ...of },
      { at: 2, type: 'read', ...of, stock: 10 },
      { at: 3, type: 'wrote', ...of, stock: 9 },
      { at: 3, type: 'left', ...of },
    ]);
    expect([sales.writes(), sales.waiting()]).toEqual([1, 0]);
  });

  test('without a lock a sale begins with its reading, and one that finds nothing leaves with its answer', () => {
    const { sales, sends, told } = node();

    sends(1, read(1), write(0));
    sales.ended(sold);
    sends(1, read(0));
    sales.ended(soldOut);

    const begun = (sale: number, stock: number) => [`${sale} waiting`, `${sale} entered`, `${sale} read ${stock}`];
    expect(told()).toEqual([...begun(1, 1), '1 wrote 0', '1 left', ...begun(2, 0), '2 left']);
  });

  test('whose a command is follows from its connection', () => {
    const { sales, sends, send, told } = node();
    sends(1, acquire, read(10));
    sends(2, ['SET lock me NX PX 400', 'nil']);
    expect([told(), sales.waiting()]).toEqual([['1 waiting', '1 entered', '1 read 10', '2 waiting'], 1]);

    // The lease of the first has ended.
    for (const [line, text] of [acquire, read(10), write(9)]) send(2, line, text);
    send(1, ...write(9));

    expect(told()).toEqual(['2 entered', '2 read 10', '2 wrote 9', '2 left', '1 wrote 9', '1 left']);
    expect(sales.writes()).toBe(2);
  });

  test('where all share one connection the oldest that fits has it, and no sale is told of twice', () => {
    const { sales, sends, send, told } = node({ isShared: true });
    sends(1, acquire);
    sends(1, ['SET lock other NX PX 400', 'nil']);
    send(1, 'SET lock other NX PX 400', 'nil');
    for (const [line, text] of [read(10), write(9), release]) send(1, line, text);
    sales.ended(sold);
    for (const [line, text] of [acquire, read(9), write(8), release]) send(1, line, text);
    sales.ended(sold);

    expect(told()).toEqual([
      ...['1 waiting', '2 waiting', '1 entered', '1 read 10', '1 wrote 9', '1 left'],
      ...['2 entered', '2 read 9', '2 wrote 8', '2 left'],
    ]);
  });

  test('where all share one connection a write is of the one that has read one more', () => {
    const { sends, send, told } = node({ isShared: true });
    sends(1, read(10));
    sends(1, read(7));
    told();

    send(1, ...write(6));
    send(1, ...write(9));

    expect(told()).toEqual(['2 wrote 6', '2 left', '1 wrote 9', '1 left']);
  });

  test('one that reads again, or writes nothing more, is still inside', () => {
    const { sales, sends, told } = node();

    sends(1, acquire, read(10), read(9));
    expect(told()).toEqual(['1 waiting', '1 entered', '1 read 10', '1 read 9']);
    sales.ended(sold);

    expect(told()).toEqual(['1 left']);
    expect(sales.writes()).toBe(0);
  });

  test('commands that no request explains are no sale', () => {
    const { sales, send, told } = node();

    for (const [line, text] of [acquire, read(10), write(9), release]) send(1, line, text);

    expect(told()).toEqual([]);
    // It is a write all the same.
    expect(sales.writes()).toBe(1);
  });

  test('nothing is told of a service that is not known', () => {
    const { sales, sends, told } = node({ isKnown: false });

    sends(1, acquire, read(10), write(9));
    sales.ended(sold);

    expect([told(), sales.writes()]).toEqual([[], 0]);
  });
});

describe('a write that Redis refuses', () => {
  const watched: [string, string][] = [
    ['WATCH stock', 'OK'],
    ['GET stock', '10'],
    ['MULTI', 'OK'],
    ['SET stock 9', 'QUEUED'],
  ];

  test.each([
    ['EXEC', '[OK]', ['1 wrote 9', '1 left'], 1],
    ['EXEC', 'nil', ['1 conflict'], 0],
    ['EXEC', 'error EXECABORT', ['1 conflict'], 0],
    ['DISCARD', 'OK', ['1 conflict'], 0],
  ])('a transaction that ends with %s → %s', (end, text, events, writes) => {
    const { sales, sends, told } = node();

    sends(1, ...watched, [end, text]);

    expect(told()).toEqual(['1 waiting', '1 entered', '1 read 10', ...events]);
    expect(sales.writes()).toBe(writes);
  });

  test('the transactions of two connections, and one without the stock', () => {
    const { sales, sends, send, told } = node();

    sends(1, ...watched);
    sends(2, ...watched);
    send(2, 'EXEC', '[OK]');
    send(3, 'EXEC', '[OK]');
    send(1, 'EXEC', 'nil');

    expect(told().slice(-3)).toEqual(['2 wrote 9', '2 left', '1 conflict']);
    expect(sales.writes()).toBe(1);
  });

  test('by a condition: the sale tries again', () => {
    const { sales, sends, told } = node();

    sends(1, read(10), ['EVAL text 1 stock 10', '0'], read(9), ['EVAL text 1 stock 9', '1']);
    sales.ended(sold);

    expect(told()).toEqual([
      ...['1 waiting', '1 entered', '1 read 10', '1 conflict', '1 read 9'],
      ...['1 wrote', '1 left'],
    ]);
    expect(sales.writes()).toBe(1);
  });
});

describe('how a sale ends', () => {
  test('it is told to try again: it has waited, and the one inside stays there', () => {
    const { sales, sends, told } = node();
    sends(1, acquire, read(10));
    sends(2, ['SET lock me NX PX 400', 'nil']);
    told();

    sales.ended(busy);

    expect(told()).toEqual(['2 failed LOCK_WAIT_TIMEOUT']);
    expect(sales.waiting()).toBe(0);
  });

  test('it fails before it has read', () => {
    const { sales, sends, told } = node();
    sends(1, acquire);

    sales.ended({ outcome: 'inDoubt', code: '500 oops' });

    expect(told()).toEqual(['1 waiting', '1 failed 500 oops']);
  });

  test('its client goes away while it waits: it waits for nobody, and may still sell', () => {
    const { sales, sends, send, told } = node();
    sends(1, ['SET lock me NX PX 400', 'nil']);

    sales.ended(undefined);
    expect([told(), sales.waiting()]).toEqual([['1 waiting', '1 failed CLIENT_GONE'], 0]);
    for (const [line, text] of [read(10), write(9)]) send(1, line, text);

    expect(told()).toEqual(['1 entered', '1 read 10', '1 wrote 9', '1 left']);
    expect(sales.writes()).toBe(1);
  });

  test('its client goes away while it is inside: its write still counts, and the next sale is another', () => {
    const { sales, sends, send, told } = node();
    sends(1, acquire, read(10));
    sales.ended(undefined);
    sends(2, acquire, read(10), write(9));
    sales.ended(sold);
    send(1, ...write(9));

    expect(told().slice(3)).toEqual([
      ...['2 waiting', '2 entered', '2 read 10', '2 wrote 9', '2 left'],
      ...['1 wrote 9', '1 left'],
    ]);
    expect(sales.writes()).toBe(2);
  });

  test('its process dies, and what it had queued with it', () => {
    const { sales, sends, send, told } = node();
    sends(1, read(10), ['MULTI', 'OK'], ['SET stock 9', 'QUEUED']);
    told();

    sales.forget();
    sales.ended(undefined);
    send(1, 'EXEC', '[OK]');

    expect([told(), sales.waiting(), sales.writes()]).toEqual([[], 0, 0]);
  });
});
