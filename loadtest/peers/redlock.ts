// redlock 5 beta: `using()`, which extends the lease by itself, with all masters.

import Redlock from 'redlock';
import type { Promises } from '../evidence/promises.ts';
import { adaptUsing, becauseOfUsing, claimsOf, optionsOfUsing, usingDoesNotPromise } from './redlock-family.ts';

export const options = optionsOfUsing;

export const promises: Promises = { renewal: true, masters: true };

export const claims = claimsOf('https://www.npmjs.com/package/redlock/v/5.0.0-beta.2');

export const doesNotPromise = usingDoesNotPromise;

export const because = {
  ...becauseOfUsing,
  'long-sale':
    'acquire() counts the time that is left from its first try. A waiter that has waited for longer than a lease is told at once that its lock is over, and does not extend it.',
};

export const createLock = adaptUsing((masters, settings) => new Redlock(masters, settings));
