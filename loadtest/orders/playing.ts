// The state of one playing of an order scenario: what is in progress, and what has happened.

import { randomUUID } from 'node:crypto';
import type { TickResult } from '../../services/inventory/orders/contract.ts';
import type { Held } from '../../stack/proxy/link.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { TargetNode } from '../harness/target.ts';
import { told } from '../narration/steps.ts';
import { type Playable, sentencesOf } from '../sentences/sentence.ts';
import type { OrderRow, Shop } from './shop.ts';

/** A due order of one unit. It has its own sku, so the stock shows how often the unit was restored. */
export interface DueOrder {
  id: string;
  sku: string;
}

/** A run of the clean-up that should be held. */
export interface Tick {
  node: TargetNode;
  result: Promise<TickResult>;
  /** How it has ended, if it has. */
  ended?: TickResult;
  isHeld: boolean;
}

export interface OrderPlaying extends Shop, Pick<Playable<void>, 'evidence' | 'ending'> {
  due: DueOrder[];
  /** By their letters. */
  ticks: Map<string, Tick>;
  /** The last tick was skipped. */
  isSkipped?: boolean;
  /** The key of all requests, or of all messages. */
  key: string;
  /** Who sends the first request. */
  client: AbortController;
  /** What was sent with the key, and the answers that have come so far. */
  requests: Promise<ClientAnswer>[];
  answers: ClientAnswer[];
  /** What the last repeat was answered. */
  repeated?: ClientAnswer;
  /** What was counted of the clicks. */
  figures?: Record<string, number>;
  /** The order that was made. */
  order?: OrderRow;
  /** The messages that pay for it, by their ids in the stream. */
  messages: string[];
  /** Which node has acknowledged a message. */
  acknowledged: Map<string, string>;
  /** Whose acknowledgement is held on its way, and what drops each that is to be held. */
  booker?: TargetNode;
  drops: (() => void)[];
  /** Sales of a stock that is in MySQL and in Redis, by their letters. */
  sales: Map<string, StoreSale>;
  /** How many units both stores had, and how often a node has deleted the key in Redis since. */
  units: number;
  deletes: number;
  /** What the reader sends to fill Redis, and how many deletes had come by then. */
  fill?: { held: Held; looks: Promise<unknown>; deletesBefore?: number };
  /** A message was not acknowledged in time. */
  isLeft?: boolean;
}

/** A sale that reads Redis, writes MySQL, then writes Redis. */
export interface StoreSale {
  answered: Promise<ClientAnswer>;
  answer?: ClientAnswer;
  /** It has taken its unit in MySQL, and what it sends to Redis is held. */
  held?: Held;
}

/** How a request ended for its client. Without a status it got no response. */
export interface ClientAnswer {
  status?: number;
  code?: string | undefined;
  orderId?: string | undefined;
  remaining?: number | undefined;
}

export const beginPlaying = (shop: Shop): OrderPlaying => ({
  ...shop,
  evidence: [],
  due: [],
  ticks: new Map(),
  key: randomUUID(),
  client: new AbortController(),
  requests: [],
  answers: [],
  messages: [],
  acknowledged: new Map(),
  drops: [],
  sales: new Map(),
  units: 0,
  deletes: 0,
});

/** The makers of sentences for order scenarios: steps, demands and settings. */
export const { step, needing, setting, demand } = sentencesOf<OrderPlaying, void>();

/** Steps of many scenarios. */

export const commonSteps = [
  setting('a lease lasts <time>', ({ time }) => ({ timing: { leaseMs: time } })),
  step('<time> pass[es]', async (playing, { time }) => {
    await playing.rest(time);
    return told('time passed', { ms: time });
  }),
  step('no node can change an order<orElse>', async (playing, { orElse }) => {
    await playing.holdOrders(orElse !== '');
    return told(orElse === '' ? 'orders locked' : 'orders and refunds locked', {});
  }),
  step('the orders can be changed again', async (playing) => {
    playing.letGoOfOrders();
    return told('orders unlocked', {});
  }),
  needing('node processes')('<node> is killed (SIGKILL)', async (playing, { node }) => {
    await playing.kill(node);
    for (const tick of playing.ticks.values()) {
      const hasAnswered = tick.node === node && (await tick.result.then(() => true).catch(() => false));
      if (hasAnswered) throw new NotStagedError(`The run on ${node.name} had ended before it was killed.`);
    }
    return told('killed', { node: node.name });
  }),
];
