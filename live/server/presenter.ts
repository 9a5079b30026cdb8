// What a presenter's browser is answered: the page, the stream of what is seen, and the orders.

import { createHash, timingSafeEqual } from 'node:crypto';
import express, { type Express, type RequestHandler } from 'express';
import { z } from 'zod';
import { type Order, orderSchema } from '../contract.ts';
import { type PuzzleOrder, puzzleOrderSchema } from '../puzzle-contract.ts';
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
  /** Carries out what a player of "you are the scheduler" asks for; without it there is no such game. Throws Refusal. */
  orderPuzzle?: (order: PuzzleOrder) => void;
  /** What was played last, as a page of one file; undefined when nothing was. */
  savedPage?: () => { name: string; text: string } | undefined;
  /** Where the room follows, as a code for its cameras: an SVG; undefined when the page is not shared. */
  roomCode?: () => string | undefined;
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
  orderPuzzle = refusePuzzle,
  savedPage = () => undefined,
  roomCode = () => undefined,
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

    app.post('/puzzle', onlyWithToken, onlyJson, express.json({ limit: BODY_LIMIT }), (request, response) => {
      orderPuzzle(puzzleOrderSchema.parse(request.body));
      response.status(204).end();
    });

    app.get('/room.svg', onlyWithToken, (_request, response) => {
      const code = roomCode();
      if (code === undefined) throw new Refusal(404, 'NOT_SHARED', 'The page is not shared: no room can follow.');
      response.type('image/svg+xml').send(code);
    });

    app.get('/run', onlyWithToken, (_request, response) => {
      const page = savedPage();
      if (page === undefined) throw new Refusal(404, 'NOTHING_PLAYED', 'Nothing was played yet.');
      response.attachment(page.name).type('text/html; charset=utf-8').send(page.text);
    });
  }

  const hostRefused = 'The page answers to this machine alone.';
  return createOwnPage({ files, names: () => [], isShared: false, hostRefused, addRoutes, onBug });
}

function refuseRoom() {
  throw new Refusal(409, 'NO_ROOM', 'This page asks no questions.');
}

function refusePuzzle() {
  throw new Refusal(409, 'NO_PUZZLE', 'There is no scheduler to be played here.');
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
    const refusal = new Refusal(
      403,
      'TOKEN_REFUSED',
      'This is not the address of the page that runs now. Open the one that npm run live has printed.',
    );
    next(isKnown ? undefined : refusal);
  };
}
