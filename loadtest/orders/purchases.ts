// Sentences about requests that arrive twice with one idempotency key: clicks, repeats and refunds, and the orders that result.

import { NotStagedError } from '../evidence/not-staged.ts';
import type { TargetNode } from '../harness/target.ts';
import { seen } from '../narration/evidence.ts';
import { countOf } from '../narration/numbers.ts';
import { because, type Reason } from '../narration/reasons.ts';
import { narrated, type StepForms, type StepSentence, told } from '../narration/steps.ts';
import type { Finding } from '../sentences/sentence.ts';
import { KEY_LEASE_MS } from '../staircase/keys.ts';
import { type ClientAnswer, demand, needing, type OrderPlaying, step } from './playing.ts';
import { type Shop, SKU, STOCK } from './shop.ts';

/** How long a client waits before it repeats a request that is in progress, in milliseconds. */
const REPEAT_DELAY_MS = 100;
/** How long a client repeats a request that is in progress, in milliseconds: the lock of a dead node has ended by then. */
const PATIENCE_MS = 10 * KEY_LEASE_MS;
const SALE = `/inventory/sale?sku=${SKU}`;

export const steps = [
  step('the first click is held inside its sale at <node>', async (playing, { node }) => {
    await node.script({ untilResumed: true });
    click(playing, node);
    const isInside = async () => (await node.history()).events.find(({ type }) => type === 'read');
    await playing.until(`The click on ${node.name} never started its sale.`, isInside);
    return told('first click held', { node: node.name });
  }),
  step(
    '<count> more clicks arrive at <where>, and each is answered or waits for the lock of the sale',
    async (playing, { count, where }) => {
      const { answers, requests } = playing;
      const { first, second } = playing;
      const nodes = where === 'both nodes' ? [second, first] : playing.nodes.filter(({ name }) => name === where);
      for (let n = 0; n < count; n += 1) click(playing, nodes[n % nodes.length] as TargetNode);
      await playing.until('The other clicks were neither answered nor waiting for the lock of the sale.', async () => {
        const states = await Promise.all([first, second].map((node) => node.state()));
        return answers.length + states.reduce((sum, { waiting }) => sum + waiting, 0) >= count;
      });
      const { events } = await first.history();
      const inside = events.find(({ type }) => type === 'read')?.saleId;
      if (events.some(({ type, saleId }) => type === 'left' && saleId === inside)) {
        throw new NotStagedError(`The click on ${first.name} did not stay inside its sale.`);
      }
      const refused = answers.filter(({ code }) => code === 'REQUEST_IN_PROGRESS').length;
      playing.figures = { clicks: requests.length, refused };
      const waiting = count - answers.length;
      return told('more clicks came', {
        clicks: count,
        nodes: nodes.map(({ name }) => name).toSorted(),
        refused,
        waiting,
      });
    },
  ),
  step('the first click resumes', async (playing) => {
    await playing.first.resume();
    return told('first click resumed', {});
  }),
  step('all requests are answered', async ({ requests }) => {
    await Promise.all(requests);
    return told('all requests answered', {});
  }),

  // Responses that are lost.
  step('<where> hold[s] back the next response', async (playing, { where }) => {
    const nodes = playing.nodes.filter(({ name }) => where === 'both nodes' || name === where);
    for (const node of nodes) await node.script({ beforeAnswer: true });
    return told('answers will be held', { nodes: nodes.map(({ name }) => name) });
  }),
  step('a click arrives at <node>, and an order is created', async (playing, { node }) => {
    click(playing, node);
    return told('click made an order', await makesOrder(playing));
  }),
  step('a click arrives through nginx, as a GET, and an order is created', async (playing) => {
    request(playing, 'GET', playing.nginxUrl, SALE);
    return told('click through nginx made an order', await makesOrder(playing));
  }),
  step('<node> has its response ready, and the client disconnects', async (playing, { node }) => {
    const { client } = playing;
    await playing.until(`${node.name} did not hold back its response.`, async () => (await node.state()).held === 1);
    client.abort();
    await hasNoAnswer(playing);
    await node.resume();
    const hasEnded = async () => (await node.state()).answering === 0;
    await playing.until(`The request on ${node.name} never ended.`, hasEnded);
    return told('client hung up', { node: node.name });
  }),
  step('the client gets no response', async (playing) => {
    await hasNoAnswer(playing);
    return told('client had no answer', {});
  }),
  step('this nginx has proxy_next_upstream on, which our configuration turns off', async () =>
    told('nginx passes requests on', {}),
  ),
  needing('node processes')(
    'the node that created the order is killed (SIGKILL), and the other node may respond',
    async (playing) => {
      const { order } = playing;
      const seller = playing.nodes.find(({ name }) => name === order?.node);
      const other = playing.nodes.find((node) => node !== seller);
      if (!seller || !other) throw new NotStagedError(`The order was created by ${order?.node}.`);
      // This one is to answer.
      await other.script({});
      await playing.kill(seller);
      return told('seller killed', { node: seller.name, other: other.name });
    },
  ),
  step(
    'nginx sends the click to the other node, and the client repeats it while it is in progress',
    async (playing) => {
      const { requests } = playing;
      const answer = (await requests[0]) ?? {};
      if (answer.status === undefined || answer.status === 502) {
        const how = narrated(answered('click', answer));
        throw new NotStagedError(`nginx did not send the click to the other node. ${how}`);
      }
      await playing.say(told('nginx passed the click on', {}));
      const isUnderWay = answer.code === 'REQUEST_IN_PROGRESS';
      await repeat(playing, isUnderWay ? () => send(playing, 'GET', playing.nginxUrl, SALE) : async () => answer);
      return answered(isUnderWay ? 'repeat' : 'click', playing.repeated);
    },
  ),
  step('the client repeats the click at <node> while it is in progress', async (playing, { node }) => {
    await playing.say(told('client repeats', { node: node.name }));
    await repeat(playing, () => send(playing, 'POST', node.publicUrl, SALE));
    return answered('repeat', playing.repeated);
  }),

  // Servers that are slow.
  needing('links')('each reply of Redis and MySQL is <time> late', async (playing, { time }) => {
    // So that neither has to connect first.
    for (const node of playing.nodes) await mustAnswer(playing, node, '/orders?limit=1');
    const links = playing.nodes.flatMap(({ link, backendLinks }) => [link, ...(backendLinks?.mysql ?? [])]);
    const delay = (ms: number) => {
      for (const link of links) link?.delayReplies(ms);
    };
    playing.undoLater(() => delay(0));
    delay(time);
    return told('all answers delayed', { ms: time });
  }),
  step('a click arrives at each node, and neither is answered within <time>', async (playing, { time: limitMs }) => {
    const { requests } = playing;
    const startedAt = performance.now();
    for (const node of playing.nodes) click(playing, node);
    const firstMs = Promise.race(requests).then(() => performance.now() - startedAt);
    // A node that answers this has been given the click that was sent before it.
    await Promise.all(playing.nodes.map((node) => mustAnswer(playing, node, '/healthz')));
    if (performance.now() - startedAt >= limitMs) {
      throw new NotStagedError('A click arrived so late that the other one may already have a response.');
    }
    if ((await firstMs) < limitMs) {
      throw new NotStagedError('A click got a response sooner than the servers reply to its node.');
    }
    return told('clicks not answered', { ms: limitMs });
  }),

  // Orders that a request without a key has made.
  step('an order is created', async (playing) => told('order made', await orderUnkeyed(playing))),
  step('an order is created and paid', async (playing) => {
    const made = await orderUnkeyed(playing);
    const paid = await fetch(new URL(`/orders/${playing.order?.id}/pay`, playing.first.publicUrl), {
      method: 'POST',
    });
    if (!paid.ok) throw new NotStagedError('The order could not be paid.');
    return told('order made and paid', made);
  }),
  step('a refund arrives at <node>, which waits for the order<orElse>', async (playing, { node, orElse }) => {
    const { answers, requests } = playing;
    refund(playing, node);
    const hasCome = async () => (await waitingRefunds(playing)) + answers.length === requests.length;
    await playing.until(`${node.name} did not try to change the order.`, hasCome);
    if (!answers[0]) return told('refund kept waiting', { node: node.name });
    if (orElse === '') throw new NotStagedError(narrated(answered('refund', answers[0])));
    await playing.say(told('refund came', { node: node.name }));
    return answered('refund', answers[0]);
  }),
  step('the client requests the refund again at <node>', async (playing, { node }) => {
    await playing.say(told('client repeats', { node: node.name }));
    playing.repeated = await send(playing, 'POST', node.publicUrl, refundPath(playing));
    return answered('refund', playing.repeated);
  }),
];

export const demands = [
  demand('one order is created', async (playing) => {
    const finding = await judgeOrders(playing);
    // Two orders are one too many, whatever became of the other clicks.
    if (!finding.wrong) mustBeAnswered(playing);
    return finding;
  }),
  demand('one order is created, and the repeated request gets it', async (playing) => {
    const { repeated: again = {} } = playing;
    // The first request is over, and its order is there: an answer that says otherwise stays wrong.
    if (again.code === 'REQUEST_IN_PROGRESS') {
      const made = await playing.orders();
      return {
        wrong: because('orders nobody learns of', { orders: made.length }),
        ending: 'if it never ends',
        figures: { orders: made.length },
        evidence: made.map(({ id, node }) => seen('order nobody learns of', { order: id, node })),
      };
    }
    if (again.status !== 200) throw new NotStagedError(narrated(answered('repeat', again)));
    if (!(await playing.orders()).some(({ id }) => id === again.orderId)) {
      throw new NotStagedError(`${narrated(answered('repeat', again))} MySQL does not have this order.`);
    }
    return judgeOrders(playing);
  }),
  demand('there is one refund', async (playing) => {
    mustBeAnswered(playing);
    const finding = await judgeRefunds(playing);
    if (finding.figures?.refunds === 0) throw new NotStagedError('Nothing was refunded at all.');
    return finding;
  }),
  demand('the money is paid back once', async (playing) => {
    const { status = 500 } = playing.repeated ?? {};
    if (status >= 500) throw new NotStagedError(narrated(answered('refund', playing.repeated)));
    const finding = await judgeRefunds(playing);
    if (finding.figures?.refunds !== 0) return finding;
    return {
      ...finding,
      ending: 'if too few',
      evidence: [seen('order not refunded', { order: playing.order?.id ?? '' })],
    };
  }),
];

async function judgeRefunds({ query, order }: OrderPlaying): Promise<Finding> {
  const sql = "SELECT id FROM tb_payment WHERE order_id = ? AND kind = 'REFUND'";
  const refunds = await query<{ id: string }>(sql, [order?.id]);
  return once(because('refunds of one order', { refunds: refunds.length }), {
    isOnce: refunds.length === 1,
    figures: { orders: 1, refunds: refunds.length },
    evidence: refunds.map(({ id }) => seen('refund', { payment: id, order: order?.id ?? '' })),
  });
}

/** The finding for something that must happen once. */
export function once(
  count: Reason,
  { isOnce, figures, evidence }: { isOnce: boolean } & Required<Pick<Finding, 'figures' | 'evidence'>>,
): Finding {
  return { ...(isOnce ? { right: count } : { wrong: count }), figures, evidence: isOnce ? [] : evidence };
}

/** Checks MySQL and the stock: there is one order, and one unit is gone. */
async function judgeOrders({ orders, stock, figures }: OrderPlaying): Promise<Finding> {
  const [made, inStock] = [await orders(), await stock()];
  if (made.length === 0) throw new NotStagedError('No order was created at all.');
  if (inStock !== STOCK - made.length) {
    const count = countOf(made.length, 'order');
    throw new NotStagedError(`The stock is ${inStock}, but ${count} of ${STOCK} units were sold.`);
  }
  return once(because('orders for one purchase', { orders: made.length }), {
    isOnce: made.length === 1,
    figures: { orders: made.length, ...figures },
    evidence: made.map(({ id, node, sale_id: sale }) => seen('order made', { order: id, node, sale })),
  });
}

/** Sends the request to a node, or through nginx, with the key of the purchase. Resolves without a status when there is no answer. */
async function send({ key, client, stopping }: OrderPlaying, method: string, origin: string, path: string) {
  // Never rejects: when the drill ends, nobody may be left who waits for it.
  const signal = AbortSignal.any(client.signal.aborted ? [stopping] : [client.signal, stopping]);
  try {
    const answer = await fetch(new URL(path, origin), { method, headers: { 'idempotency-key': `"${key}"` }, signal });
    const { code, orderId } = (await answer.json()) as ClientAnswer;
    return { status: answer.status, code, orderId };
  } catch {
    return {};
  }
}

/** Sends it, and keeps the response. */
function request(playing: OrderPlaying, ...what: [method: string, origin: string, path: string]) {
  const answered = send(playing, ...what).then((answer: ClientAnswer) => {
    playing.answers.push(answer);
    return answer;
  });
  playing.requests.push(answered);
}

const click = (playing: OrderPlaying, { publicUrl }: TargetNode) => request(playing, 'POST', publicUrl, SALE);
const refund = (playing: OrderPlaying, { publicUrl }: TargetNode) =>
  request(playing, 'POST', publicUrl, refundPath(playing));
const refundPath = ({ order }: OrderPlaying) => `/orders/${order?.id}/refund`;

/** How many refunds wait to change the order. */
async function waitingRefunds({ waitingStatements }: OrderPlaying) {
  return (await waitingStatements('UPDATE tb_order%')) + (await waitingStatements('INSERT IGNORE INTO tb_refund%'));
}

async function hasNoAnswer({ requests }: OrderPlaying) {
  const { status } = (await requests[0]) ?? {};
  if (status !== undefined) throw new NotStagedError('The click got a response.');
}

/** Repeats the request while the first one is reported to be in progress, for at most ten leases. */
async function repeat(playing: OrderPlaying, again: () => Promise<ClientAnswer>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await again();
    playing.repeated = answer;
    if (answer.code !== 'REQUEST_IN_PROGRESS' || performance.now() > deadline) return;
    await playing.rest(REPEAT_DELAY_MS);
  }
}

/** Resolves when the order is written, with its values for a step. */
async function makesOrder(playing: OrderPlaying): Promise<StepForms['order made']> {
  const order = await playing.until('No order was written.', async () => (await playing.orders())[0]);
  playing.order = { ...order, amount: Number(order.amount) };
  return { order: shortId(order.id), node: order.node };
}

async function orderUnkeyed(playing: OrderPlaying) {
  await fetch(new URL(SALE, playing.first.publicUrl), { method: 'POST' });
  return makesOrder(playing);
}

/** Throws NotStagedError when a request got no response, or failed: then something else prevented it. */
function mustBeAnswered({ answers }: OrderPlaying) {
  const amiss = answers.find(({ status }) => status === undefined || status >= 500);
  if (amiss) throw new NotStagedError(narrated(answered('request', amiss)));
}

/** Throws NotStagedError when the node does not respond. */
async function mustAnswer({ stopping }: Shop, { name, publicUrl }: TargetNode, path: string) {
  const answered = fetch(new URL(path, publicUrl), { signal: stopping }).then((answer) => answer.arrayBuffer());
  await answered.catch(() => {
    throw new NotStagedError(`${name} does not respond.`);
  });
}

/** The step for the response to a request. */
function answered(request: StepForms['request answered']['request'], answer: ClientAnswer = {}): StepSentence {
  const { status, code, orderId } = answer;
  return status === undefined
    ? told('request not answered', { request })
    : told('request answered', { request, status, order: orderId && shortId(orderId), code });
}

/** The first digits of the id of an order. */
const shortId = (id: string) => id.slice(0, 8);
