// Sends sales: a counted load over many connections, or one sale, or one read of the stock, on its own connection.

import type { Asked } from '../../services/inventory/sale/sku.ts';
import {
  type BasketAnswer,
  countAnswer,
  type Ended,
  type LookAnswer,
  readBasketAnswer,
  readLookAnswer,
  type SaleAnswer,
  type Tally,
} from '../evidence/answers.ts';
import type { Timer } from './clock.ts';
import type { HttpRequest, LoadRequest } from './network.ts';
import type { Target, TargetNode } from './target.ts';

const GIVE_UP_LOOK_MS = 200;

/** The network and clock for requests. */
type Sender = Pick<Target, 'clock' | 'network' | 'wire'>;

export interface LoadOptions extends Pick<LoadRequest, 'url' | 'requests' | 'connections' | 'requestLimitMs'> {
  /** Stops the load when no sale has come to its end for so many milliseconds. */
  giveUpMs?: number | undefined;
  /** Stops the load after so many milliseconds. */
  capMs?: number | undefined;
  /** Stops the load when it aborts. */
  signal: AbortSignal;
  onAnswer: (answers: number) => void;
}

/** Sends `requests` sales over `connections` connections, each connection one after the other. */
export async function sendSales({ clock, network, wire }: Sender, options: LoadOptions): Promise<Tally> {
  const { giveUpMs = Number.POSITIVE_INFINITY, capMs = Number.POSITIVE_INFINITY, signal } = options;
  const tally: Tally = {
    sent: 0,
    answers: 0,
    errors: 0,
    sold: [],
    soldOut: 0,
    lockTimeout: 0,
    failed: 0,
    indefinite: 0,
    nonsense: 0,
    samples: {},
    durationMs: 0,
    isCapped: false,
  };
  const startedAt = clock.now();
  let lastSaleAt = startedAt;
  const load = network.startLoad({
    ...options,
    ...wire.sale,
    url: `${options.url}${wire.sale.path}`,
    onSend() {
      tally.sent += 1;
      return { sentAt: clock.now() };
    },
    onAnswer(status, body, { sentAt }) {
      const now = clock.now();
      tally.answers += 1;
      tally.durationMs = now - startedAt;
      const ended = () => tally.sold.length + tally.soldOut;
      const endedBefore = ended();
      countAnswer(tally, wire.readAnswer(status, body), now - sentAt, `${status} ${body}`);
      if (ended() > endedBefore) lastSaleAt = now;
      options.onAnswer(tally.answers);
    },
  });

  let looking: Timer;
  const look = () => {
    const now = clock.now();
    if (now - startedAt > capMs) tally.isCapped = true;
    if (tally.isCapped || now - lastSaleAt > giveUpMs) load.stop();
    looking = clock.startTimer(look, GIVE_UP_LOOK_MS);
  };
  looking = clock.startTimer(look, GIVE_UP_LOOK_MS);
  signal.addEventListener('abort', load.stop);
  if (signal.aborted) load.stop();
  const { errors } = await load.ended.finally(() => {
    signal.removeEventListener('abort', load.stop);
    clock.stopTimer(looking);
  });
  return { ...tally, errors };
}

export interface RunningSale<Answer = SaleAnswer> {
  node: string;
  end: Promise<Ended<Answer>>;
  /** How it has ended; absent until then. */
  ended?: Ended<Answer>;
  /** The client disconnects. */
  hangUp(): void;
  /** How it ends. After the limit its client disconnects. */
  endWithin(limitMs: number): Promise<Ended<Answer>>;
}

/** Sends one sale directly to a node, on its own connection. `name`: its letter in the scenario, under which its node records it. */
function sendSale(by: Sender, node: TargetNode, name?: string, { user, ...limits }: Asked = {}) {
  const query = new URLSearchParams(Object.entries(limits).map(([limit, ms]) => [limit, String(ms)]));
  const { sale, readAnswer } = by.wire;
  const path = query.size > 0 ? `${sale.path}?${query}` : sale.path;
  return send<SaleAnswer>(by, node, { ...sale, path, requestId: name, user }, readAnswer);
}

/** Sends the sale of several skus in the same way. */
export const sendBasket = (by: Sender, node: TargetNode, skus: string[], name?: string) =>
  send<BasketAnswer>(by, node, { ...by.wire.sale, json: JSON.stringify({ skus }), requestId: name }, readBasketAnswer);

/** Asks a node for the stock in the same way. */
const sendLook = (by: Sender, node: TargetNode) =>
  send<LookAnswer>(by, node, { method: 'GET', path: '/inventory' }, readLookAnswer);

/** The sales of a drill. `mustBeOpen` throws when none may begin any more; `onEnd` is called when one has ended. */
export function openSales(by: Sender, mustBeOpen: () => void, onEnd: () => void) {
  const all: RunningSale[] = [];
  const sent: { hangUp(): void }[] = [];

  function begin<Sale extends { end: Promise<unknown>; hangUp(): void }>(send: () => Sale): Sale {
    mustBeOpen();
    const sale = send();
    sent.push(sale);
    void sale.end.then(onEnd);
    return sale;
  }

  return {
    /** Those of one sku so far, the oldest first. */
    all: all as readonly RunningSale[],
    sell(node: TargetNode, name?: string, asked?: Asked): RunningSale {
      const sale = begin(() => sendSale(by, node, name, asked));
      all.push(sale);
      return sale;
    },
    sellBasket: (node: TargetNode, skus: string[], name: string) => begin(() => sendBasket(by, node, skus, name)),
    look: (node: TargetNode) => begin(() => sendLook(by, node)),
    /** Every client disconnects. */
    hangUp() {
      for (const sale of sent) sale.hangUp();
    },
  };
}

function send<Answer>(
  { clock, network }: Sender,
  node: TargetNode,
  { path, ...request }: Pick<HttpRequest, 'method' | 'json' | 'requestId' | 'user'> & { path: string },
  read: (status: number, body: string) => Answer,
): RunningSale<Answer> {
  const sentAt = clock.now();
  const gone = new AbortController();
  const url = new URL(path, node.publicUrl);
  const finish = (end: Answer | { outcome: 'cutOff' }): Ended<Answer> => {
    running.ended = { ...end, sentAt, ms: clock.now() - sentAt };
    return running.ended;
  };
  const end = network.request({ ...request, url, signal: gone.signal }).then(
    ({ status, body }) => finish(read(status, body)),
    () => finish({ outcome: 'cutOff' }),
  );
  const running: RunningSale<Answer> = {
    node: node.name,
    end,
    hangUp() {
      // Of the thousands of sales of a drill most have ended.
      if (!running.ended) gone.abort();
    },
    endWithin(limitMs) {
      const timer = clock.startTimer(running.hangUp, limitMs);
      return end.finally(() => clock.stopTimer(timer));
    },
  };
  return running;
}
