// @sesamecare-oss/redlock 1: redlock 5 for ioredis 5, by `using()`, which extends the lease by itself, with all masters.

import { Redlock } from '@sesamecare-oss/redlock';
import type { Promises } from '../evidence/promises.ts';
import { adaptUsing, becauseOfUsing, claimsOf, optionsOfUsing, usingDoesNotPromise } from './redlock-family.ts';

export const options = optionsOfUsing;

export const promises: Promises = { renewal: true, masters: true };

export const claims = claimsOf('https://www.npmjs.com/package/@sesamecare-oss/redlock/v/1.4.0');

export const doesNotPromise = usingDoesNotPromise;

export const because = becauseOfUsing;

export const createLock = adaptUsing((masters, settings) => new Redlock(masters, settings));
