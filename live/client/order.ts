// Orders from the presenter to the server.

import type { Order } from '../contract.ts';
import type { PuzzleOrder } from '../puzzle-contract.ts';
import type { RoomOrder } from '../room-contract.ts';
import { texts } from '../texts/en.ts';
import { problemIn } from './problem.ts';
import { orderTrouble } from './store.ts';

/** The token of the presenter: what follows the # in the address of the page. */
export function tokenInAddress(): string {
  return location.hash.slice(1);
}

/** Sends an order. What stands in its way is shown on the page. */
export function sendOrder(order: Order | RoomOrder): Promise<void> {
  return send('/order', order);
}

/** Sends what a player of "you are the scheduler" asks for. */
export function sendPuzzleOrder(order: PuzzleOrder): Promise<void> {
  return send('/puzzle', order);
}

async function send(path: string, order: object): Promise<void> {
  orderTrouble.value = null;
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${tokenInAddress()}` },
      body: JSON.stringify(order),
    });
    if (!response.ok) orderTrouble.value = await problemIn(response);
  } catch {
    orderTrouble.value = texts.orders.notSent;
  }
}
