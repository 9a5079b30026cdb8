// Payments arrive as messages in a Redis stream. Redis delivers each to one node, and to another one if nobody acknowledges it.

import type { TakePayment } from '../orders/contract.ts';

const STREAM = '{payments}:stream';
const GROUP = 'orders';
const KEEP = 'INSERT INTO tb_key (name) VALUES (?)';

export const takePayment: TakePayment = async ({ message, book, redis }) => {
  await book((mysql) => mysql.write(KEEP, [`payment:${message.key}`]));

  // Last of all: what a dead node has not booked must be redelivered, and what it has booked finds its key.
  await redis.xack(STREAM, GROUP, message.id);
};
