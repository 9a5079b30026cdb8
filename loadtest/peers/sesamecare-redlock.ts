// @sesamecare-oss/redlock 1: redlock 5 for ioredis 5, by `using()`, which extends the lease by itself, with all masters.
// What it says of itself: https://www.npmjs.com/package/@sesamecare-oss/redlock/v/1.4.0

import { Redlock } from '@sesamecare-oss/redlock';
import type { Promises } from '../evidence/promises.ts';
import { adaptUsing, optionsOfUsing, usingDoesNotPromise } from './redlock-family.ts';

export const options = optionsOfUsing;

export const promises: Promises = { renewal: true, masters: true };

export const doesNotPromise = usingDoesNotPromise;

export const createLock = adaptUsing((masters, settings) => new Redlock(masters, settings));
