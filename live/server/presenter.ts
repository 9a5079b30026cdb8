// What a presenter's browser is answered: the page, the stream of what is seen, and the orders.

import { createHash, timingSafeEqual } from 'node:crypto';
import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from 'express';
import { ZodError } from 'zod';
import { type Order, orderSchema } from '../contract.ts';
import type { PageFile } from './page-files.ts';
import { Refusal } from './refusal.ts';
import type { Stream } from './stream.ts';
import { refusalOf } from '../../services/inventory/known-hosts.ts';

/** An order is a few names. */
const BODY_LIMIT = '1kb';

/** The page needs nothing but itself, and may stand in no frame. */
const headers = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

export interface PresenterParts {
  files: Record<string, PageFile>;
  /** Who has it may see and play. */
  token: string;
  stream: Pick<Stream, 'follow'>;
  /** Rejects with Refusal. */
  order: (order: Order) => Promise<void>;
  /** Called with an error that is nobody's fault but ours. */
  onBug: (error: unknown) => void;
}

/** Answers this machine alone, and no page but its own. The page itself is open; what it shows and does takes the token. */
export function createPresenterApp({ files, token, stream, order, onBug }: PresenterParts): Express {
  const app = express().disable('x-powered-by').disable('etag');
  const onlyWithToken = mustHave(token);
  app.use(onlyOwnPages, (_request, response, next) => {
    response.set(headers);
    next();
  });

  for (const [path, { type, text }] of Object.entries(files)) {
    app.get(path, (_request, response) => void response.type(type).send(text));
  }

  app.get('/stream', onlyWithToken, (_request, response) => {
    if (!stream.follow(response)) throw new Refusal(503, 'TOO_MANY_FOLLOW', 'Too many windows follow already: close one.');
  });

  app.post('/order', onlyWithToken, onlyJson, express.json({ limit: BODY_LIMIT }), async (request, response) => {
    await order(orderSchema.parse(request.body));
    response.status(204).end();
  });

  app.use((request) => {
    throw new Refusal(404, 'NOT_FOUND', `There is nothing at ${request.method} ${request.path}.`);
  });
  app.use(answerRefusal(onBug));
  return app;
}

const onlyOwnPages: RequestHandler = ({ headers }, _response, next) => {
  const problem = refusalOf(headers, []);
  next(problem && new Refusal(403, problem.code, problem.code === 'HOST_REFUSED' ? 'The page answers to this machine alone.' : problem.message));
};

const onlyJson: RequestHandler = (request, _response, next) => {
  next(request.is('json') ? undefined : new Refusal(415, 'UNSUPPORTED_MEDIA_TYPE', 'Send the order as application/json.'));
};

/** Lets pass who shows the token: in the header of an order, or in the address of a stream, which can have no header. */
function mustHave(token: string): RequestHandler {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const known = digest(token);
  return (request, _response, next) => {
    const isKnown = timingSafeEqual(digest(tokenIn(request)), known);
    next(isKnown ? undefined : new Refusal(403, 'TOKEN_REFUSED', 'Open the page by the address that npm run live printed.'));
  };
}

function tokenIn(request: Request): string {
  const { token } = request.query;
  const shown = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (request.method !== 'GET') return shown ?? '';
  return shown ?? (typeof token === 'string' ? token : '');
}

function answerRefusal(onBug: (error: unknown) => void): ErrorRequestHandler {
  return (error, _request, response, _next) => {
    const { status, code, message } = asRefusal(error, onBug);
    if (response.headersSent) return void response.end();
    response.status(status).type('application/problem+json').send(JSON.stringify({ status, code, detail: message }));
  };
}

function asRefusal(error: unknown, onBug: (error: unknown) => void): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof ZodError) {
    const [issue] = error.issues;
    return new Refusal(400, 'BAD_REQUEST', `${[...(issue?.path ?? []), issue?.message].join(': ')}.`);
  }
  // Express and its body parser mark what the client did wrong with a status of 4xx.
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  if (status < 500) return new Refusal(status, 'BAD_REQUEST', (error as Error).message);
  onBug(error);
  return new Refusal(500, 'INTERNAL_ERROR', 'The page has a bug: the terminal says which.');
}
