// Idempotency · none
// Problem: a buyer clicks twice, or repeats a request whose response was lost: one purchase arrives as two requests.
// Change:  nothing yet: each request does its work.
// Leaves:  one purchase creates two orders.

import { type CreateOnce, succeeded } from './once.ts';

export const createOnce: CreateOnce = () => async (_request, work) => succeeded(await work());
