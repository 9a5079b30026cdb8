// What a follower's phone is answered: the page, the stream of what is seen, and the vote. There is nothing else.

import express, { type Express, type Request, type RequestHandler } from 'express';
import { voteSchema } from '../contract.ts';
import { createTokenGate } from './follower-token.ts';
import { ownNames } from './own-addresses.ts';
import { createOwnPage, onlyJson, type PageFile, policyOf, shownToken } from './own-page.ts';
import { Refusal } from './refusal.ts';
import type { Room } from './room.ts';
import type { Stream } from './stream.ts';

/** A vote is two numbers. */
const BODY_LIMIT = 200;

const full = () => new Refusal(503, 'TOO_MANY_FOLLOW', 'The room is full.');

export interface FollowerParts {
  files: Record<string, PageFile>;
  /** Who has it may look and vote. */
  token: string;
  stream: Pick<Stream, 'follow' | 'isFull'>;
  room: Pick<Room, 'knows' | 'join' | 'leave' | 'vote'>;
  onBug: (error: unknown) => void;
}

/** Answers the network that the presenter has shared the page with. */
export function createFollowerApp({ files, token, stream, room, onBug }: FollowerParts): Express {
  const gate = createTokenGate(token);

  const onlyWithToken: RequestHandler = (request, _response, next) => {
    const id = shownId(request);
    const answer = gate.look(shownToken(request), id !== undefined && room.knows(id));
    if (answer === 'right') return next();
    if (answer === 'later')
      return next(new Refusal(429, 'TOO_MANY_TOKENS', 'Too many wrong addresses: wait a moment.'));
    next(
      new Refusal(
        403,
        'TOKEN_REFUSED',
        'This is not the address of the room that is open now. Scan the code on the wall, or type its address.',
      ),
    );
  };

  function addRoutes(app: Express) {
    app.get('/stream', onlyWithToken, (request, response) => {
      if (stream.isFull()) throw full();
      const id = room.join(shownId(request));
      response.once('close', () => room.leave(id));
      stream.follow(response, { follower: id });
    });

    app.post('/vote', onlyWithToken, onlyJson, express.json({ limit: BODY_LIMIT }), (request, response) => {
      room.vote(shownId(request) ?? '', voteSchema.parse(request.body));
      response.status(204).end();
    });
  }

  const hostRefused = 'Open the page by the address that stands on the wall.';
  return createOwnPage({
    files,
    policy: policyOf("'self'"),
    names: ownNames,
    isShared: true,
    hostRefused,
    addRoutes,
    onBug,
  });
}

/** The id that a follower was given: in a header of its vote, or in the address of its stream. */
function shownId(request: Request): string | undefined {
  const shown = request.method === 'GET' ? request.query['id'] : request.headers['follower-id'];
  return typeof shown === 'string' ? shown : undefined;
}
