// redlock 5 beta: `using()`, which extends the lease by itself, with all masters.
// What it says of itself: https://www.npmjs.com/package/redlock/v/5.0.0-beta.2

import Redlock from 'redlock';
import type { Promises } from '../evidence/promises.ts';
import { adaptUsing, optionsOfUsing, usingDoesNotPromise } from './redlock-family.ts';

export const options = optionsOfUsing;

export const promises: Promises = { renewal: true, masters: true };

export const doesNotPromise = usingDoesNotPromise;

export const createLock = adaptUsing((masters, settings) => new Redlock(masters, settings));
