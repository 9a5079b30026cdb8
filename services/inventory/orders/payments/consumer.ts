import { once as untilEvent } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { ANSWER_LIMIT_MS } from '../../../../locks/drivers/answer-limit.ts';
import type { RedisClient } from '../../../../locks/lock.ts';
import type { NodeParts } from '../../sale/sale-service.ts';
import { asProblem } from '../../servers/away-server.ts';
import { connectRedis, redisOptions } from '../../servers/redis-client.ts';
import { type Answer, failedForGood, type Once } from '../idempotency/once.ts';
import type { Order } from '../order.ts';
import type { OrderStore } from '../order-store.ts';
import { isWithoutGroup, type Message, openStream, paymentSchema } from './stream.ts';

/** How long a read blocks if there is no message, in milliseconds. A stopping node waits for it. */
const BLOCK_MS = 500;
/** How long the consumer waits before it retries a failure, in milliseconds. */
const REST_MS = 250;
/** How often a message that triggers a bug is redelivered. */
const MOST_DELIVERIES = 5;

/** Creates the handler of a message, which replaces booking and acknowledging it. */
export type TakeBy = (orders: OrderStore, redis: RedisClient) => (message: Message) => Promise<Answer>;

/**
 * Books incoming payments one by one until the node stops. A consumer that
 * dies, or loses Redis, after its work and before its XACK leaves the message pending, and it
 * comes again. So the work is done once for each key, as far as the strategy of IDEMPOTENCY goes.
 */
export function startPaymentConsumer(
  { settings, node, log }: Pick<NodeParts, 'settings' | 'node' | 'log'>,
  orders: OrderStore,
  once: Once,
  takeBy?: TakeBy,
) {
  // A connection of its own: what comes behind a read that blocks has to wait.
  const redis = connectRedis(settings.REDIS_URL, { ...redisOptions, socketTimeout: BLOCK_MS + ANSWER_LIMIT_MS });
  // A command that is under way rejects.
  redis.on('error', () => {});
  const stream = openStream(redis, node);
  const take = takeBy?.(orders, redis);
  const stopping = new AbortController();
  const ended = consume();

  async function consume() {
    // The first connection, whatever comes of it.
    await untilEvent(redis, 'ready', { signal: stopping.signal }).catch(() => {});
    while (!stopping.signal.aborted) {
      try {
        // While MySQL is away nothing is read that nobody could book. Redis says by itself that it is away.
        await orders.ask();
        // What somebody has left comes before what is new.
        const left = await stream.claimIdle(settings.PAYMENT_MIN_IDLE_MS);
        if (left) log.info({ payment: left.id }, 'a payment is claimed from another consumer');
        const message = left ?? (await stream.readNew(BLOCK_MS));
        if (message) await handle(message);
      } catch (error) {
        await recover(error).catch(() => {});
        await sleep(REST_MS, undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  }

  /** First the work, then XACK. The other way round, a node that dies in between loses the payment. */
  async function handle(message: Message) {
    const { status, body } = await (take ?? book)(message).catch((error): Answer => {
      const refusal = failedForGood(asProblem(error)) ?? bugOfTooMany(error, message);
      if (refusal === undefined) throw error;
      return refusal;
    });
    // What a lab has instead of us sends the XACK itself, or does not.
    if (status < 400) return take ? undefined : stream.acknowledge(message);
    // It would be refused every time.
    const { detail } = JSON.parse(body) as { detail: string };
    await stream.putAside(message, detail);
    log.warn({ payment: message.id, why: detail }, 'a payment is dead-lettered');
  }

  /** Why the message can't be booked: a bug is not temporary. Undefined for anything else, and while retries are left. */
  function bugOfTooMany(error: unknown, { deliveries }: Message): Answer | undefined {
    const { code, cause, problem } = asProblem(error);
    if (code !== 'INTERNAL_ERROR' || deliveries < MOST_DELIVERIES) return undefined;
    log.error({ err: cause }, 'a bug');
    const detail = cause instanceof Error ? cause.message : problem.detail;
    return { status: problem.status, body: JSON.stringify({ ...problem, detail }) };
  }

  async function book({ fields }: Message): Promise<Answer> {
    const payment = paymentSchema.parse(fields);
    const { order, amount, key } = payment;
    // The arrow keeps it apart from the keys of requests, which are ASCII: no buyer can take the key of a payment.
    const request = { key: `payment→${key}`, fingerprint: `payment ${order} ${amount}` };
    return once(request, (keep): Promise<Order> => orders.receive(payment, keep));
  }

  /** An unacknowledged message stays pending, and is claimed once it has been idle long enough. */
  async function recover(error: unknown) {
    if (isWithoutGroup(error)) return stream.makeGroup();
    const { code, message, cause } = asProblem(error);
    if (code === 'INTERNAL_ERROR') log.error({ err: cause }, 'a bug');
    else log.debug({ code, why: message }, 'a payment will be retried');
  }

  return {
    end: () => stopping.abort(),
    ended: () => ended,
    /** Call it only when nothing is in progress. */
    close: () => redis.disconnect(),
  };
}
