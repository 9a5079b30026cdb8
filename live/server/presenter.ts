// What a presenter's browser is answered: the page, the stream of what is seen, and the orders.

import { createHash, timingSafeEqual } from 'node:crypto';
import express, { type Express, type RequestHandler } from 'express';
import { z } from 'zod';
import { type Order, orderSchema } from '../contract.ts';
import { type RoomOrder, roomOrderSchema } from '../room-contract.ts';
import { createOwnPage, onlyJson, shownToken } from './own-page.ts';
import type { PageFile } from './page-files.ts';
import { Refusal } from './refusal.ts';
import type { Stream } from './stream.ts';

/** An order is a few names. */
const BODY_LIMIT = '1kb';

const anyOrderSchema = z.discriminatedUnion('do', [...orderSchema.options, ...roomOrderSchema.options]);

export interface PresenterParts {
  files: Record<string, PageFile>;
  /** Who has it may see and play. */
  token: string;
  stream: Pick<Stream, 'follow'>;
  /** Rejects with Refusal. */
  order: (order: Order) => Promise<void>;
  /** Carries out what is asked of the room; without it there is none. Throws Refusal. */
  orderRoom?: (order: RoomOrder) => void;
  /** Called with an error that is nobody's fault but ours. */
  onBug: (error: unknown) => void;
}

/** Answers this machine alone, and no page but its own. */
export function createPresenterApp({
  files,
  token,
  stream,
  order,
  orderRoom = refuseRoom,
  onBug,
}: PresenterParts): Express {
  const onlyWithToken = mustHave(token);

  function addRoutes(app: Express) {
    app.get('/stream', onlyWithToken, (_request, response) => {
      if (stream.follow(response)) return;
      throw new Refusal(503, 'TOO_MANY_FOLLOW', 'Too many windows follow already: close one.');
    });

    app.post('/order', onlyWithToken, onlyJson, express.json({ limit: BODY_LIMIT }), async (request, response) => {
      const asked = anyOrderSchema.parse(request.body);
      if (isOfRoom(asked)) orderRoom(asked);
      else await order(asked);
      response.status(204).end();
    });
  }

  const hostRefused = 'The page answers to this machine alone.';
  return createOwnPage({ files, names: () => [], isPortChecked: false, hostRefused, addRoutes, onBug });
}

function refuseRoom() {
  throw new Refusal(409, 'NO_ROOM', 'This page asks no questions.');
}

function isOfRoom(order: Order | RoomOrder): order is RoomOrder {
  return roomOrderSchema.safeParse(order).success;
}

/** Lets pass who shows the token. */
function mustHave(token: string): RequestHandler {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const known = digest(token);
  return (request, _response, next) => {
    const isKnown = timingSafeEqual(digest(shownToken(request)), known);
    const refusal = new Refusal(403, 'TOKEN_REFUSED', 'Open the page by the address that npm run live printed.');
    next(isKnown ? undefined : refusal);
  };
}
