// A listener of the live page: it serves the files of its page, one stream and one kind of command, answers no page but its own, and says why it refuses.

import { createHash, timingSafeEqual } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { ZodError, type z } from 'zod';
import { refusalOf } from '../../services/inventory/http/known-hosts.ts';
import type { PageFile } from '../page/pack.ts';
import { Refusal } from './refusal.ts';

/** The page asks nobody but its own listener, and may stand in no frame. `own`: where its scripts and styles are. */
export const policyOf = (own: string, ...more: string[]) =>
  [
    "default-src 'none'",
    `script-src ${own}`,
    `style-src ${own}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...more,
  ].join('; ');

const headers = {
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

/** Browsers take it from this machine alone, where they need no TLS. */
const ofThisMachine = { 'Cross-Origin-Opener-Policy': 'same-origin' };

export interface ListenerParts<Command extends z.ZodType> {
  files: Record<string, PageFile>;
  /** The Content-Security-Policy. */
  policy: string;
  /** The names by which this listener may be asked, besides those of loopback; read for every request. */
  names: () => string[];
  /** It is on the network, and asked by its own port. On this machine alone it may be asked through a tunnel. */
  isShared: boolean;
  /** Is this the token? Who shows it may follow and send commands. */
  isToken: (shown: string) => boolean;
  /** What is said to a request by another name, and to one without the token. */
  says: { hostRefused: string; tokenRefused: string };
  /** Answers with the stream. Throws Refusal. */
  follow: (request: Request, response: Response) => void;
  /** Where commands are posted, what they are, and how large they may be. */
  commands: { path: string; schema: Command; limit: string };
  /** Rejects with Refusal. */
  carryOut: (command: z.output<Command>, request: Request) => unknown;
  /** Called with an error that is nobody's fault but ours. */
  onBug: (error: unknown) => void;
}

/** The page itself is open to those who reach the listener; what it shows and does takes the token. Nothing else is answered. */
export function createListener<Command extends z.ZodType>(parts: ListenerParts<Command>): Express {
  const { files, policy, isShared, isToken, says, commands, carryOut } = parts;
  const app = express().disable('x-powered-by').disable('etag');
  app.use((_request, response, next) => {
    response.set({ ...headers, 'Content-Security-Policy': policy, ...(!isShared && ofThisMachine) });
    next();
  });
  app.use(onlyOwnPages(parts), onlyGetAndPost);
  for (const [path, { type, text }] of Object.entries(files)) {
    const packed = gzipSync(text);
    app.get(path, (request, response) => {
      response.type(type).vary('Accept-Encoding');
      if (request.acceptsEncodings('gzip')) response.set('Content-Encoding', 'gzip').send(packed);
      else response.send(text);
    });
  }
  const onlyWithToken: RequestHandler = (request, _response, next) =>
    next(isToken(shownToken(request)) ? undefined : new Refusal(403, 'TOKEN_REFUSED', says.tokenRefused));
  app.get('/stream', onlyWithToken, parts.follow);
  const json = express.json({ limit: commands.limit });
  app.post(commands.path, onlyWithToken, onlyJson, json, async (request, response) => {
    await carryOut(commands.schema.parse(request.body), request);
    response.status(204).end();
  });
  app.use(refuseUnknown);
  app.use(answerRefusal(parts.onBug));
  return app;
}

/** Compares what is shown with a token, whatever time that takes. */
export function tokenGate(token: string, read = (text: string) => text): (shown: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(read(text)).digest();
  const known = digest(token);
  return (shown) => timingSafeEqual(digest(shown), known);
}

/** Keeps out other names for this machine (DNS rebinding), and pages of any other origin. */
function onlyOwnPages<Command extends z.ZodType>({ names, isShared, says }: ListenerParts<Command>): RequestHandler {
  return ({ headers, socket }, _response, next) => {
    const { host, origin } = headers;
    // A link of another site leads to the page, which shows nothing without its token.
    const isByLink = headers['sec-fetch-mode'] === 'navigate';
    const problem = refusalOf(isByLink ? { host, origin } : headers, names());
    const isOtherPort = isShared && portOf(headers.host) !== socket.localPort;
    if (problem?.code === 'HOST_REFUSED' || isOtherPort) {
      return next(new Refusal(403, 'HOST_REFUSED', says.hostRefused));
    }
    next(problem && new Refusal(403, problem.code, problem.message));
  };
}

/** A Host without a port means that of plain HTTP. */
function portOf(host = ''): number {
  return Number(/:(\d+)$/.exec(host)?.[1] ?? 80);
}

const refuseUnknown: RequestHandler = ({ method, path }) => {
  throw new Refusal(404, 'NOT_FOUND', `There is nothing at ${method} ${path}.`);
};

/** Express answers a HEAD as it would a GET: a stream must not begin with one. */
const onlyGetAndPost: RequestHandler = (request, response, next) => {
  if (request.method === 'GET' || request.method === 'POST') return next();
  refuseUnknown(request, response, next);
};

const onlyJson: RequestHandler = (request, _response, next) => {
  next(request.is('json') ? undefined : new Refusal(415, 'UNSUPPORTED_MEDIA_TYPE', 'Send it as application/json.'));
};

/** The token that a request shows: in its header, or in the address of a stream, which can have no header. Else an empty text. */
function shownToken({ method, headers, query }: Request): string {
  const shown = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1];
  return shown ?? (method === 'GET' && typeof query['token'] === 'string' ? query['token'] : '');
}

function answerRefusal(onBug: (error: unknown) => void): ErrorRequestHandler {
  return (error, _request, response, _next) => {
    const { status, code, message } = asRefusal(error, onBug);
    if (response.headersSent) return void response.end();
    response
      .status(status)
      .type('application/problem+json')
      .send(JSON.stringify({ status, code, detail: message }));
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
