// Sentences about payments that arrive through a Redis stream: messages and bookings.

import { paymentsGroup, paymentsKey, refusedKey } from '../../services/inventory/orders/payments/stream.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { seen } from '../narration/evidence.ts';
import { because } from '../narration/reasons.ts';
import { told } from '../narration/steps.ts';
import { demand, needing, type OrderPlaying, step } from './playing.ts';
import { once } from './purchases.ts';
import type { Shop } from './shop.ts';

export const steps = [
  needing('links')('the next XACK of each node will be held', async (playing) => {
    for (const node of playing.nodes) {
      const held = node.link?.holdNext('XACK');
      held?.arrived.then(() => (playing.booker ??= node)).catch(() => {});
      // The one of a dead node never arrives, and the one of its heir passes.
      playing.drops.push(() => held?.drop());
      playing.undoLater(() => held?.drop());
    }
    return told('XACK will be held', {});
  }),
  step('a message arrives with a payment for half of the order', async (playing) => {
    for (const { link, name } of playing.nodes) {
      const end = link?.watch((command) => {
        if (command.name === 'XACK') for (const id of command.args) playing.acknowledged.set(String(id), name);
      });
      playing.undoLater(() => end?.());
    }
    await sendPayment(playing);
    return told('message sent', {});
  }),
  step('the payment is booked', async (playing) => {
    await playing.until('The payment was not booked.', async () => (await paymentsOf(playing, playing.order?.id))[0]);
    return told('payment booked', {});
  }),
  step('the payment is sent again with the same key, and a node receives the message', async (playing) => {
    await sendPayment(playing);
    const isGiven = async () => (await lastGiven(playing)) === playing.messages.at(-1);
    await playing.until('No node received the second message.', isGiven);
    return told('message sent again', {});
  }),
  step('a node books the payment, and sends its XACK', async (playing) => {
    const { order } = playing;
    const { name } = await playing.until('No node has sent an XACK.', async () => playing.booker);
    const isBooked = async () => (await paymentsOf(playing, order?.id))[0];
    await playing.until(`${name} sent its XACK without a booking.`, isBooked);
    return told('payment booked by', { node: name });
  }),
  needing('node processes')('that node is killed (SIGKILL), and its message is still pending', async (playing) => {
    const { messages, drops } = playing;
    const booker = bookerOf(playing);
    const { name } = booker;
    await playing.kill(booker);
    const [left] = await pendingOf(playing);
    if (left?.id !== messages[0] || left?.consumer !== name || (left?.deliveries ?? 0) > 1) {
      throw new NotStagedError(
        `${name} had acknowledged its message before it was killed, or another node had claimed it.`,
      );
    }
    for (const drop of drops) drop();
    return told('booker killed', { node: name });
  }),
  step('a node starts to book the payment', async (playing) => {
    await playing.until('No node tried to book the payment.', async () => (await waitingBookings(playing)) > 0);
    return told('booking came', {});
  }),
  needing('node processes', 'links')('the node that received the message is killed (SIGKILL)', async (playing) => {
    const { messages, acknowledged } = playing;
    const [pending] = await pendingOf(playing);
    // Of a message that is acknowledged Redis no longer knows whose it was.
    const names = [pending?.consumer, acknowledged.get(messages[0] ?? '')];
    const dead = playing.nodes.find(({ name }) => names.includes(name));
    if (dead === undefined) throw new NotStagedError('It is unknown which node received the message.');
    await playing.kill(dead);
    return told('consumer killed', { node: dead.name });
  }),
  step('no booking is waiting any more', async (playing) => {
    await playing.until('A booking did not end.', async () => (await waitingBookings(playing)) === 0);
    return told('no booking waited', {});
  }),
  step('nothing is booked yet', async (playing) => {
    const { order, messages } = playing;
    if ((await paymentsOf(playing, order?.id)).length > 0) throw new NotStagedError('The payment was booked anyway.');
    const isPending = (await pendingOf(playing)).some(({ id }) => id === messages[0]);
    return isPending ? told('nothing booked, message pending', {}) : told('nothing booked, message acknowledged', {});
  }),
  step('the drill waits until every message is acknowledged, for <limit> at most', async (playing, { limit }) => {
    await playing.say(told('messages unacknowledged', {}));
    const ms = await areTaken(playing, limit);
    return playing.isLeft ? told('message left pending', { ms: limit }) : told('messages acknowledged', { ms });
  }),
  step('the other node claims the message within <limit>', async (playing, { limit }) => {
    const dead = bookerOf(playing);
    const node = (dead === playing.first ? playing.second : playing.first).name;
    await playing.say(told('message orphaned', { node }));
    const ms = await areTaken(playing, limit);
    if (playing.isLeft) throw new NotStagedError('No node has claimed the message.');
    return told('message taken over', { node, ms });
  }),
];

export const demands = [
  demand('one payment is booked, and no message is delivered again', async (playing) => {
    const { order, messages, isLeft } = playing;
    const payments = await paymentsOf(playing, order?.id);
    if (isLeft && payments.length === 0) throw new NotStagedError('No node has claimed the message.');
    const counts = { messages: messages.length, payments: payments.length };
    return {
      ...once(because('payments of one', counts), {
        isOnce: payments.length === 1 && !isLeft,
        figures: counts,
        evidence: [
          ...messages.map((message) => seen('message pays', { message, order: order?.id ?? '' })),
          ...payments.map(({ id }) => seen('payment', { payment: id, order: order?.id ?? '' })),
        ],
      }),
      ...(payments.length === 0 ? { ending: 'if too few' } : isLeft && { ending: 'if it never ends' }),
    };
  }),
];

function bookerOf({ booker }: OrderPlaying) {
  if (booker === undefined) throw new Error('No node has sent an XACK.');
  return booker;
}

/** Waits until every message is acknowledged. Resolves with how long that took, in milliseconds. */
async function areTaken(playing: OrderPlaying, limitMs: number): Promise<number> {
  const startedAt = performance.now();
  const isGone = async () => (await pendingOf(playing)).length === 0;
  const isDone = await playing.look(isGone, limitMs);
  // Nobody has looked whether it is booked.
  if ((await playing.redis.xlen(refusedKey)) > 0) throw new NotStagedError('The message was dead-lettered.');
  playing.isLeft = isDone === undefined;
  return performance.now() - startedAt;
}

/** Adds a payment to the stream, as its provider does. */
async function sendPayment({ redis, order, messages, key }: OrderPlaying) {
  const fields = ['order', String(order?.id), 'amount', String((order?.amount ?? 0) / 2), 'key', key];
  messages.push(String(await redis.xadd(paymentsKey, '*', ...fields)));
}

/** The payments of the order in MySQL. */
const paymentsOf = ({ query }: Shop, order: string | undefined) =>
  query<{ id: string }>("SELECT id FROM tb_payment WHERE order_id = ? AND kind = 'PAYMENT'", [order]);

/** How many bookings wait for the row lock of their order. */
const waitingBookings = ({ waitingStatements }: Shop) => waitingStatements('SELECT id FROM tb_order%FOR UPDATE');

/** The messages that are not acknowledged. */
async function pendingOf({ redis }: Shop) {
  const rows = await redis.xpending(paymentsKey, paymentsGroup, '-', '+', 10);
  return (rows as [string, string, number, number][]).map(([id, consumer, , deliveries]) => ({
    id,
    consumer,
    deliveries,
  }));
}

/** The last message that a node received. */
async function lastGiven({ redis }: Shop): Promise<string | undefined> {
  const groups = (await redis.xinfo('GROUPS', paymentsKey)) as unknown[][];
  const fields = groups.find((group) => group.includes(paymentsGroup)) ?? [];
  return fields[fields.indexOf('last-delivered-id') + 1] as string | undefined;
}
