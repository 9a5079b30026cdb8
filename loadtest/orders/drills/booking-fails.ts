// MySQL does not answer in time when a payment is booked, and is well again a moment later. Is the payment lost?

import { holdingOrder, judgeBooking, orderToPay, sendPayment, waitingBookings } from '../payments.ts';
import type { KeyDrill } from '../purchase.ts';

export const bookingFails: KeyDrill = {
  name: 'booking-fails',
  async run(testBed) {
    const { until } = testBed;
    const order = await orderToPay(testBed);
    await testBed.step(
      `One message pays half of order ${order.id.slice(0, 8)}. When a node books the payment, MySQL does not answer in time.`,
    );
    const message = await holdingOrder(testBed, order.id, async () => {
      const sent = await sendPayment(testBed, order.id, order.amount / 2);
      await until('No node has come to book the payment.', async () => (await waitingBookings(testBed)) > 0);
      await until('The booking has not failed.', async () => (await waitingBookings(testBed)) === 0);
      return sent;
    });
    return judgeBooking(testBed, { order: order.id, message, what: 'The node could not book the payment' });
  },
};
