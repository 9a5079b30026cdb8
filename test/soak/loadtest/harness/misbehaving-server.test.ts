import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rush } from '../../../../loadtest/drills/rush.ts';
import type { DrillOutcome } from '../../../../loadtest/harness/drill.ts';
import { openLocalTarget, type Target } from '../../../../loadtest/harness/target.ts';
import { behave, type Misbehaviour, startMisbehavingServer } from './misbehaving-server.ts';

let target: Target;

beforeAll(async () => {
  target = await openLocalTarget({ env: { LOG_LEVEL: 'silent', LOCK_VERSION: '6' } });
});

afterAll(() => target.close());

/** A rush under a lock that holds, through a server that misbehaves. */
async function rushThrough(misbehave: Misbehaviour): Promise<DrillOutcome> {
  const server = await startMisbehavingServer(target.url, misbehave);
  try {
    return await rush.run({
      target: { ...target, url: server.url },
      stage: '6-lua-release',
      settings: { requests: 200, connections: 10, stock: 500, units: 100, leaseMs: 1000 },
      signal: new AbortController().signal,
      onProgress() {},
      async narrate() {},
    });
  } finally {
    server.stop();
  }
}

describe('rush: through a server that misbehaves, the verdict is unknown', () => {
  test('a server that behaves: pass, so that the other verdicts mean something', async () => {
    const { verdict, reasons } = await rushThrough(behave);
    expect(reasons).toEqual(['200 units sold, and the stock is 300, as expected.']);
    expect(verdict).toBe('pass');
  });

  test('it drops connections before it passes a sale on', async () => {
    const { verdict, figures } = await rushThrough(async (sale) => {
      if (sale.n % 40 === 0) sale.response.destroy();
      else await behave(sale);
    });
    expect(verdict).toBe('unknown');
    expect(figures?.inDoubt).toBeGreaterThan(0);
  });

  test('it drops connections after the sale was made', async () => {
    const { verdict, reasons, figures } = await rushThrough(async (sale) => {
      if (sale.n % 40 !== 0) return behave(sale);
      await sale.passOn();
      sale.response.destroy();
    });
    expect(verdict).toBe('unknown');
    expect(figures).toMatchObject({ sent: 200, sold: 195, inDoubt: 5, finalStock: 300, expectedStock: 305 });
    expect(reasons.join(' ')).toMatch(/in doubt|were answered/);
  });

  test.each([
    ['text', 200, 'hello'],
    ['an empty answer', 200, ''],
    ['half a document', 200, '{"outcome":"sold","sa'],
    ['a sale without a stock', 200, '{"outcome":"sold","saleId":"0001","node":"node-1"}'],
    ['a success that says nothing', 204, ''],
    ['an HTML error', 500, '<html>Oops</html>'],
    ['null', 200, 'null'],
  ])('it answers nonsense: %s', async (_title, status, body) => {
    const { verdict, reasons, figures } = await rushThrough(async (sale) => {
      if (sale.n % 50 !== 0) return behave(sale);
      await sale.passOn();
      sale.response.writeHead(status).end(body || undefined);
    });
    expect(verdict).toBe('unknown');
    expect(figures?.inDoubt).toBe(4);
    expect(reasons.join(' ')).toContain('4 answers made no sense');
  });

  test('it sells without asking the nodes', async () => {
    const { verdict, reasons } = await rushThrough(async (sale) => {
      if (sale.n !== 100) return behave(sale);
      const answer = { outcome: 'sold', saleId: '9999', node: 'node-1', stockBefore: 7, remaining: 6 };
      sale.response.writeHead(200).end(JSON.stringify(answer));
    });
    expect(verdict).toBe('unknown');
    expect(reasons.join(' ')).toContain('200 requests were sent, but the nodes counted 199.');
  });

  test('it sends one click twice', async () => {
    const { verdict, reasons } = await rushThrough(async (sale) => {
      if (sale.n === 100) await sale.passOn();
      await behave(sale);
    });
    expect(verdict).toBe('unknown');
    expect(reasons.join(' ')).toContain('200 requests were sent, but the nodes counted 201.');
  });

  test('it refuses sales with a lie that they certainly did not take place', async () => {
    const { verdict, reasons } = await rushThrough(async (sale) => {
      if (sale.n !== 100) return behave(sale);
      await sale.passOn();
      sale.response.writeHead(503).end(JSON.stringify({ code: 'STORE_UNAVAILABLE', definite: true }));
    });
    expect(verdict).toBe('unknown');
    expect(reasons.join(' ')).toContain('The stock is 300, lower than the 301 that the sales explain.');
  });

  test('it says that it closes every connection', async () => {
    const { verdict, figures } = await rushThrough(async (sale) => {
      sale.response.setHeader('Connection', 'close');
      await behave(sale);
    });
    expect(verdict).toBe('unknown');
    expect(figures?.sold).toBeLessThan(200);
  });

  test('it dies half way, and the run ends soon', async () => {
    const startedAt = performance.now();
    const { verdict, reasons } = await rushThrough(async (sale) => {
      if (sale.n === 100) sale.die();
      else await behave(sale);
    });
    expect(verdict).toBe('unknown');
    expect(reasons.length).toBeGreaterThan(0);
    expect(performance.now() - startedAt).toBeLessThan(25_000);
  });
});
