import { describe, expect, test } from 'vitest';
import { proveCell, type Task } from '../../prove/cell.ts';
import { clauseInEnglish } from '../../prove/wording.ts';
import { fileOf, searchIn, writeLock } from './own-locks.ts';

const prove = (file: string, changed: Partial<Task> = {}) =>
  proveCell({
    stage: 'lock',
    file,
    scope: 'plain',
    processes: 1,
    sales: 2,
    isAtOnce: true,
    masters: 0,
    budget: {},
    ...changed,
  });

describe('a timer that nobody ends', () => {
  const renewing = (more: string) =>
    writeLock(
      `let timer;
      return {
        async acquire() {
          while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') await sleep(retryDelayMs);
          timer = setInterval(() => redis.get(key).then((found) => found === null && ${more}), leaseMs / 3);
        },
        async release() { await redis.del(key); },
      };`,
      "import { setTimeout as sleep } from 'node:timers/promises';",
    );
  const twoSales = { processes: 2, sales: 1, isAtOnce: false };

  test('it fires for three leases after all is over: that is violation enough, and is replayed', async () => {
    const { verdict, reason, replayed } = await prove(renewing('undefined'), twoSales);

    expect({ verdict, reason, replayed }).toEqual({
      verdict: 'fails',
      reason: expect.stringMatching(/^All sales have ended, but \d+ ms later a timer of A still fires\.$/),
      replayed: 20,
    });
  });

  test('one that ends itself after a while is left to end', async () => {
    expect(await prove(renewing('clearInterval(timer)'), twoSales)).toMatchObject({ verdict: 'holds', cut: 0 });
  });
});

describe('a timer that keeps no process alive fires as any other', () => {
  const renewing = (renew: string, clear = 'clearInterval(timer)') =>
    writeLock(
      `const call = (command, ...args) =>
        redis.eval("if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('" + command + "', KEYS[1], unpack(ARGV, 2)) end return 0", 1, key, ownerToken, ...args);
      let timer;
      return {
        async acquire() {
          while ((await redis.set(key, ownerToken, 'PX', leaseMs, 'NX')) !== 'OK') await sleep(retryDelayMs);
          timer = ${renew}.unref();
        },
        async release() { ${clear}; await call('DEL'); },
      };`,
      "import { setTimeout as sleep } from 'node:timers/promises';",
    );
  const renewal = "() => call('PEXPIRE', leaseMs)";

  test.each([
    ['a watchdog', 'long-sale', renewing(`setInterval(${renewal}, leaseMs / 3)`), 'holds'],
    ['one that renews once', 'long-sale', renewing(`setTimeout(${renewal}, leaseMs / 3)`), 'fails'],
    ['one that is too late', 'long-sale', renewing(`setInterval(${renewal}, leaseMs + 1)`), 'fails'],
    ['one that nobody ends', 'plain', renewing(`setInterval(${renewal}, leaseMs / 3)`, ''), 'fails'],
  ])('%s, in %s', async (_what, scope, file, verdict) => {
    expect(await searchIn(file, scope)).toMatchObject({ verdict });
  });

  test('a waiter that only pings waits for ever, and the search says so', async () => {
    const deaf = writeLock(`
      return {
        async acquire() {
          if ((await redis.set(key, ownerToken, 'NX')) === 'OK') return;
          setInterval(() => redis.ping(), leaseMs).unref();
          await new Promise(() => {});
        },
        async release() { await redis.del(key); },
      };`);

    expect(await searchIn(deaf, 'plain')).toMatchObject({
      verdict: 'fails',
      reason: 'The lock is free, but B, which waits for it, still has not entered 4500 ms later.',
    });
  });
});

describe('two sales of one process at the same time', () => {
  test('without a lock one of them is lost, and the counterexample goes on until it is', async () => {
    const { verdict, reason, counterexample = [], replayed } = await prove(fileOf('0-none'));

    expect({ verdict, reason, replayed }).toEqual({
      verdict: 'fails',
      reason: '2 of 10 units were sold, but 9 are left: 1 sold twice.',
      replayed: 20,
    });
    expect(counterexample.map(({ what }) => clauseInEnglish(what))).toEqual([
      'starts a sale',
      'GET stock',
      'GET stock',
      'SET stock 9',
      'SET stock 9',
    ]);
    expect(counterexample.flatMap(({ told }) => told.map(({ sale, step }) => `${step} ${sale}`))).toContain(
      'entered 2',
    );
  });

  test('one after the other nothing is lost, and under the lock of one process neither is at once', async () => {
    expect(await prove(fileOf('0-none'), { isAtOnce: false })).toMatchObject({ verdict: 'holds', cut: 0 });
    expect(await prove(fileOf('1-in-process'))).toMatchObject({ verdict: 'holds', cut: 0 });
  });

  test('a lock that lets nobody in: it is said which of them wait', async () => {
    const { reason } = await prove(writeLock('return { acquire: () => new Promise(() => {}), async release() {} };'));

    expect(reason).toBe('A waits for ever: its sales 1, 2 never end.');
  });

  test('where nothing is lost, that both were inside is violation enough', async () => {
    const fencedAlone = writeLock(`
      let token;
      return {
        acquire: async () => void (token = String(await redis.incr('tokens'))),
        release: async () => {},
        get fencingToken() { return token; },
      };`);

    const { verdict, reason } = await prove(fencedAlone, { scope: 'failover', budget: { failovers: 0 } });

    expect({ verdict, reason }).toEqual({ verdict: 'fails', reason: 'Two sales of A were inside at the same time.' });
  });
});
