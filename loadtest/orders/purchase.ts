// The test bed of a drill of the idempotency keys: a click, its repeats, and the orders that come of them.

import { randomUUID } from 'node:crypto';
import { paymentsKey, refusedKey } from '../../services/inventory/orders/payments/stream.ts';
import { stockKey } from '../../services/inventory/store.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { countOf, formatDuration } from '../evidence/numbers.ts';
import type { Judgement } from '../harness/play.ts';
import type { TargetNode } from '../harness/target.ts';
import { KEY_LEASE_MS } from '../staircase/keys.ts';
import { asDrillOn, judgeOnce, type OrderDrill, openShop, type ShopOptions } from './shop.ts';

const SKU = 'drill-click';
const STOCK = 100;
/** How long a client waits before it repeats what is still under way, in milliseconds. */
const REPEAT_DELAY_MS = 100;
/** How long a client repeats what is still under way, in milliseconds: the lock of a dead node has ended by then. */
const PATIENCE_MS = 10 * KEY_LEASE_MS;

/** A drill of one purchase, one refund or one payment that comes twice: it counts what is made of it. */
export type KeyDrill = OrderDrill<PurchaseTestBed>;

/** How a request ended, as its client saw it. Without a status it got no answer. */
export interface ClientAnswer {
  status?: number;
  code?: string | undefined;
  orderId?: string | undefined;
}

export interface OrderRow {
  id: string;
  node: string;
  sale_id: string;
}

export type PurchaseTestBed = Awaited<ReturnType<typeof openPurchase>>;

/** A shop with one intent of one buyer, and one key for it. */
async function openPurchase(options: ShopOptions) {
  const shop = await openShop(options);
  const { first, query, until } = shop;
  const { url: nginxUrl } = options.target;
  const key = `"${randomUUID()}"`;

  /** Sends the request to a node, or through nginx. Resolves without a status when there is no answer. */
  async function send(method: string, origin: string, path: string, signal?: AbortSignal): Promise<ClientAnswer> {
    // Never rejects: when the drill ends, nobody may be left who waits for it.
    const ends = signal ? [signal, shop.stopping] : [shop.stopping];
    try {
      const answer = await fetch(new URL(path, origin), {
        method,
        headers: { 'idempotency-key': key },
        signal: AbortSignal.any(ends),
      });
      const { code, orderId } = (await answer.json()) as { code?: string; orderId?: string };
      return { status: answer.status, code, orderId };
    } catch {
      return {};
    }
  }

  const click = (node: TargetNode, signal?: AbortSignal) =>
    send('POST', node.publicUrl, `/inventory/sale?sku=${SKU}`, signal);

  /** Sends the same once more, and again for as long as the first is said to be under way, or for ten leases. */
  async function repeat(again: () => Promise<ClientAnswer>): Promise<ClientAnswer> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await again();
      if (answer.code !== 'REQUEST_IN_PROGRESS' || performance.now() > deadline) return answer;
      await shop.rest(REPEAT_DELAY_MS);
    }
  }

  /** The orders that MySQL has, the oldest first. */
  const orders = () =>
    query<OrderRow>('SELECT id, node, sale_id FROM tb_order WHERE sku = ? ORDER BY created_at, id', [SKU]);

  /** Resolves with the order that was made, when it is written. */
  const firstOrder = () => until('No order was written.', async () => (await orders())[0]);

  /** Sends a click that is held inside its sale until the node resumes it. Resolves when it is there. */
  async function clickInside(node: TargetNode) {
    await node.script({ untilResumed: true });
    const end = click(node);
    const { saleId } = await until(`The click on ${node.name} never got inside its sale.`, async () =>
      (await node.history()).events.find(({ type }) => type === 'read'),
    );
    return {
      end,
      /** Throws NotStagedError when it has left. */
      async mustBeInside() {
        const { events } = await node.history();
        const hasLeft = events.some((event) => event.saleId === saleId && event.type === 'left');
        if (hasLeft) throw new NotStagedError(`The click on ${node.name} did not stay inside its sale.`);
      },
    };
  }

  /** Throws NotStagedError when a request got no answer, or failed: then something else kept it from making an order. */
  function mustBeAnswered(...answers: ClientAnswer[]) {
    const amiss = answers.find(({ status }) => status === undefined || status >= 500);
    if (amiss) throw new NotStagedError(`A request ${describeAnswer(amiss)}.`);
  }

  /** What MySQL and the stock say: one order is there, and one unit gone. `how` tells in a clause how there came to be more. */
  async function judgeOrders(how: string, figures: Record<string, number> = {}): Promise<Judgement> {
    const made = await orders();
    const inStock = Number(await shop.redis.get(stockKey(SKU)));
    if (made.length === 0) throw new NotStagedError('No order was made at all.');
    if (inStock !== STOCK - made.length) {
      throw new NotStagedError(
        `The stock is ${inStock}, and ${countOf(made.length, 'order')} of ${STOCK} units don't explain it.`,
      );
    }
    return judgeOnce(made.length === 1, {
      count: `${countOf(made.length, 'order')} for one purchase`,
      how,
      figures: { orders: made.length, ...figures },
      witnesses: made.map(({ id, node, sale_id }) => `order ${id}, made by sale ${sale_id} on ${node}`),
    });
  }

  /** Judges the orders when a repeat is answered. Throws NotStagedError when it bought nothing, or names an order that is not there. */
  async function judgeRepeat(again: ClientAnswer, how: string): Promise<Judgement> {
    if (again.code === 'REQUEST_IN_PROGRESS') return judgeUnderWay();
    if (again.status !== 200) throw new NotStagedError(`The repeat ${describeAnswer(again)}.`);
    if (!(await orders()).some(({ id }) => id === again.orderId)) {
      throw new NotStagedError(`The repeat ${describeAnswer(again)}, and MySQL has no such order.`);
    }
    return judgeOrders(how);
  }

  /** The first request is over, and its order is there: an answer that says otherwise stays wrong. */
  async function judgeUnderWay(): Promise<Judgement> {
    const made = await orders();
    return judgeOnce(false, {
      count: `${countOf(made.length, 'order')} for one purchase, and the buyer never learns of it`,
      how: `for ${formatDuration(PATIENCE_MS)} each repeat is told that the first request is under way`,
      figures: { orders: made.length },
      witnesses: made.map(({ id, node }) => `order ${id} was made on ${node}, and no repeat is answered with it`),
    });
  }

  shop.forget(async () => {
    await first.clear(SKU);
    for (const key of [paymentsKey, refusedKey]) await shop.redis.del(key);
  });
  try {
    await first.setStock(STOCK, SKU);
  } catch (error) {
    await shop.close();
    throw error;
  }

  return {
    ...shop,
    nginxUrl,
    sku: SKU,
    send,
    click,
    repeat,
    orders,
    firstOrder,
    clickInside,
    mustBeAnswered,
    judgeOrders,
    judgeRepeat,
  };
}

export const asKeyDrill = (drill: KeyDrill) => asDrillOn(openPurchase)({ leaseMs: KEY_LEASE_MS, ...drill });

/** `was answered 409 REQUEST_IN_PROGRESS`, `got no answer`. */
export function describeAnswer({ status, code, orderId }: ClientAnswer): string {
  if (status === undefined) return 'got no answer';
  const what = orderId === undefined ? (code ?? '') : `order ${orderId.slice(0, 8)}`;
  return `was answered ${status} ${what}`.trim();
}
