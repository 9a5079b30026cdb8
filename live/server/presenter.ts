// What a presenter's browser is answered: the page, the stream of what is seen, and the orders.

import { createHash, timingSafeEqual } from 'node:crypto';
import express, { type Express, type RequestHandler } from 'express';
import { type Order, orderSchema } from '../contract.ts';
import { createOwnPage, onlyJson, policyOf, shownToken } from './own-page.ts';
import { Refusal } from './refusal.ts';
import type { Stream } from './stream.ts';

/** An order is a few names. */
const BODY_LIMIT = '1kb';
/** The page is one file with all that it needs, and runs the locks that are written in it in a worker. */
const policy = policyOf("'unsafe-inline' 'unsafe-eval'", 'worker-src blob:');

export interface PresenterAppParts {
  page: string;
  /** Who has it may see and play. */
  token: string;
  stream: Pick<Stream, 'follow'>;
  /** Rejects with Refusal. */
  order: (order: Order) => Promise<void>;
  /** Called with an error that is nobody's fault but ours. */
  onBug: (error: unknown) => void;
}

/** Answers this machine alone, and no page but its own. */
export function createPresenterApp({ page, token, stream, order, onBug }: PresenterAppParts): Express {
  const onlyWithToken = mustHave(token);

  function addRoutes(app: Express) {
    app.get('/stream', onlyWithToken, (_request, response) => {
      if (stream.follow(response)) return;
      throw new Refusal(503, 'TOO_MANY_FOLLOW', 'Too many windows follow already: close one.');
    });

    app.post('/order', onlyWithToken, onlyJson, express.json({ limit: BODY_LIMIT }), async (request, response) => {
      await order(orderSchema.parse(request.body));
      response.status(204).end();
    });
  }

  const files = { '/': { type: 'text/html; charset=utf-8', text: page } };
  const hostRefused = 'The page answers to this machine alone.';
  return createOwnPage({ files, policy, names: () => [], isShared: false, hostRefused, addRoutes, onBug });
}

/** Lets pass who shows the token. */
function mustHave(token: string): RequestHandler {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const known = digest(token);
  return (request, _response, next) => {
    const isKnown = timingSafeEqual(digest(shownToken(request)), known);
    const refusal = new Refusal(
      403,
      'TOKEN_REFUSED',
      'This is not the address of the page that runs now. Open the one that npm run live has printed.',
    );
    next(isKnown ? undefined : refusal);
  };
}
