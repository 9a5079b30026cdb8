// A listener of the live page: it serves its page, one stream and one kind of command, accepts requests from its own page only, and explains refusals.

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

/** The page may contact only its own listener, and may not be framed. `own`: the source of its scripts and styles. */
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

/** Browsers accept it without TLS only on this machine. */
const ofThisMachine = { 'Cross-Origin-Opener-Policy': 'same-origin' };

export interface ListenerParts<Command extends z.ZodType> {
  files: Record<string, PageFile>;
  /** The Content-Security-Policy. */
  policy: string;
  /** The Host names that this listener accepts besides loopback; read for every request. */
  names: () => string[];
  /** True on the network, where the port must match. On this machine it may be reached through a tunnel. */
  isShared: boolean;
  /** Checks the token. A client with the token may follow and send commands. */
  isToken: (shown: string) => boolean;
  /** The refusals for a wrong Host and for a missing token. */
  says: { hostRefused: string; tokenRefused: string };
  /** Responds with the stream. Throws Refusal. */
  follow: (request: Request, response: Response) => void;
  /** The path, schema and size limit of commands. */
  commands: { path: string; schema: Command; limit: string };
  /** Rejects with Refusal. */
  carryOut: (command: z.output<Command>, request: Request) => unknown;
  /** Called with errors that are our own bugs. */
  onBug: (error: unknown) => void;
}

/** Everybody who reaches the listener gets the page; its data and commands need the token. There is nothing else. */
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

/** Compares a value with a token in constant time. */
export function tokenGate(token: string, read = (text: string) => text): (shown: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(read(text)).digest();
  const known = digest(token);
  return (shown) => timingSafeEqual(digest(shown), known);
}

/** Rejects other names for this machine (DNS rebinding) and pages of other origins. */
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

/** A Host without a port means port 80. */
function portOf(host = ''): number {
  return Number(/:(\d+)$/.exec(host)?.[1] ?? 80);
}

const refuseUnknown: RequestHandler = ({ method, path }) => {
  throw new Refusal(404, 'NOT_FOUND', `There is nothing at ${method} ${path}.`);
};

/** Express treats HEAD like GET, but HEAD must not start a stream. */
const onlyGetAndPost: RequestHandler = (request, response, next) => {
  if (request.method === 'GET' || request.method === 'POST') return next();
  refuseUnknown(request, response, next);
};

const onlyJson: RequestHandler = (request, _response, next) => {
  next(
    request.is('json')
      ? undefined
      : new Refusal(415, 'UNSUPPORTED_MEDIA_TYPE', 'Send the body with Content-Type: application/json.'),
  );
};

/** A request's token: in its header, or in the address of a stream, which can't have headers. Else an empty string. */
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
  return new Refusal(500, 'INTERNAL_ERROR', 'The server has a bug: see the terminal.');
}
