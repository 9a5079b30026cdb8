// Idempotency · none
// Problem: a buyer clicks twice, or repeats a request whose answer was lost: one purchase comes as two requests.
// Change:  nothing yet, each request does its work.
// Leaves:  one purchase makes two orders.

import { type CreateOnce, succeeded } from './once.ts';

export const createOnce: CreateOnce = () => async (_request, work) => succeeded(await work());
