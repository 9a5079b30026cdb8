import { randomUUID } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { Logger } from 'pino';
import { ProblemError } from '../problem.ts';
import { inWords } from '../sale/in-words.ts';
import { asProblem } from '../servers/away-server.ts';

/** The request ids accepted from clients and nginx. They get into logs, so they must not look like anything else. */
export const requestIdForm = /^[A-Za-z0-9._-]{1,64}$/;

/** Gives a request an id: its `X-Request-Id`, or a new one. The response repeats it, and `response.locals` has it. */
export function nameRequest({ headers }: Request, response: Response) {
  const given = String(headers['x-request-id'] ?? '');
  const requestId = requestIdForm.test(given) ? given : randomUUID();
  response.locals.requestId = requestId;
  response.setHeader('X-Request-Id', requestId);
}

export const giveRequestId: RequestHandler = (request, response, next) => {
  nameRequest(request, response);
  next();
};

const ofSale = /^\/inventory\/sale(?![^/])/i;

/** Notes in `response.locals` whether the client prefers plain text for a sale. Other clients get JSON. */
export function askForWords(request: Request, response: Response) {
  const { accept = '*/*' } = request.headers;
  if (accept === '*/*' || !ofSale.test(request.path)) return;
  response.locals.inWords = request.accepts(['json', 'application/problem+json', 'text/plain']) === 'text/plain';
}

/** Comes after all routes: the path does not exist. */
export const answerNotFound: RequestHandler = (request) => {
  throw new ProblemError('NOT_FOUND', `There is nothing at ${request.path}.`);
};

/** Refuses an HTTP/1.1 request without a Host. Node would refuse it too, but without an explanation. HTTP/1.0 has no Host. */
export function mustNameHost({ httpVersion, headers }: Request) {
  if (httpVersion !== '1.1' || headers.host !== undefined) return;
  throw new ProblemError('BAD_REQUEST', 'The request has no Host header.');
}

/** Handles a request: its result is sent as JSON, or 204 if there is none, unless the handler has already responded. */
type Handler = (request: Request, response: Response) => unknown;

/**
 *
 * Adds a path with a handler for each of its methods and refuses other methods. Express answers HEAD like GET unless it has its
 * own handler. A body is JSON, and read where a method takes one.
 *
 */
export function addRoute(
  app: Express,
  path: string,
  handlers: Partial<Record<'head' | 'get' | 'put' | 'post' | 'delete', Handler>>,
) {
  const route = app.route(path);
  const methods = Object.keys(handlers) as (keyof typeof handlers)[];
  for (const method of methods) {
    if (method === 'put' || method === 'post') route[method](readJson);
    route[method](async (request, response) => {
      const body = await handlers[method]?.(request, response);
      if (body !== undefined && response.locals.inWords) answerInWords(response, body);
      else if (body !== undefined) answerJson(response, body as object);
      else if (!response.headersSent) response.status(204).end();
    });
  }
  route.all(allowOnly(...methods.filter((method) => method !== 'head').map((method) => method.toUpperCase())));
}

export function allowOnly(...methods: string[]) {
  return (request: Request, response: Response) => {
    const allow = methods.join(', ');
    response.set('Allow', allow);
    throw new ProblemError('METHOD_NOT_ALLOWED', `${request.method} is not allowed here; use ${allow}.`);
  };
}

/** A POST without a body may have a Content-Length of 0. */
function hasBody({ headers }: Request): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers;
  return length !== '0' || encoding !== undefined;
}

/** Responses to requests whose body is still being read: no work has started for them. */
const reading = new WeakSet<ServerResponse>();
/** True if the request only waits for the rest of its body and has no response yet. */
export const isAwaitingBody = (response: ServerResponse) =>
  reading.has(response) && !response.req.complete && !response.writableEnded;

const parseJson = express.json({ limit: '1kb' });
/** Refuses a body that is not JSON, which the JSON parser would pass over in silence. */
const readJson: RequestHandler = (request, response, next) => {
  if (!hasBody(request)) return next();
  if (request.is('json') === false)
    throw new ProblemError('UNSUPPORTED_MEDIA_TYPE', 'Send the body with Content-Type: application/json.');
  reading.add(response);
  parseJson(request, response, (error?: unknown) => {
    reading.delete(response);
    // A body that comes after its request was answered as late must change nothing.
    if (!response.writableEnded) next(error);
  });
};

/** The parsed body; an absent one counts as empty. */
export function bodyOf(request: Request): object {
  const body: unknown = request.body ?? {};
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw new ProblemError('BAD_REQUEST', 'The body must be a JSON object.');
}

/** Responds with 200 like `response.json()`, without its other checks, which are 7 % of what a sale costs its node. */
export function answerJson(response: ServerResponse, body: object) {
  const text = JSON.stringify(body);
  const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(text) };
  response.writeHead(200, headers).end(text);
}

/** Responds with the status that is set. */
export function answerInWords(response: Response, body: unknown) {
  response.type('text/plain').send(inWords(body as Parameters<typeof inWords>[0], response.req.socket.localPort));
}

/** Problems that may be gone a second later. */
const worthTryingAgain = ['LOCK_WAIT_TIMEOUT', 'TOO_MANY_CONFLICTS', 'TOO_MANY_STREAMS', 'REQUEST_IN_PROGRESS'];

/**
 * Turns every error into a problem document. A bug is logged, and the response says nothing about it. A client that has
 * disconnected gets nothing.
 */
export function answerProblem(log: Logger): ErrorRequestHandler {
  return (error, request, response, _next) => {
    const { problem, cause } = asProblem(ofReading(error));
    const { requestId } = response.locals;
    if (problem.code === 'INTERNAL_ERROR') log.error({ requestId, err: cause, url: request.url }, 'a bug');
    if (response.headersSent || response.destroyed) return;
    if (worthTryingAgain.includes(problem.code)) response.set('Retry-After', '1');
    response.status(problem.status);
    if (response.locals.inWords) answerInWords(response, problem);
    else response.type('application/problem+json').send(JSON.stringify({ ...problem, requestId }));
  };
}

/** Responds to input that never became a request, because it is not HTTP, too large, or too slow. */
export function answerUnreadable(error: NodeJS.ErrnoException, duplex: Duplex) {
  const socket = duplex as Socket;
  const response = new ServerResponse(new IncomingMessage(socket)).on('finish', () => socket.end());
  response.assignSocket(socket);
  answerUnread(error, response);
}

/**
 * Responds to a request whose body does not arrive or can't be read. The connection ends with the answer: nobody knows where
 * the next begins.
 */
export function answerUnread(
  error: NodeJS.ErrnoException,
  response: ServerResponse & Partial<Pick<Response, 'locals'>>,
) {
  const { problem } = whyUnreadable(error.code);
  response.statusCode = problem.status;
  response.setHeader('Content-Type', 'application/problem+json');
  response.setHeader('Connection', 'close');
  response.end(JSON.stringify({ ...problem, requestId: response.locals?.['requestId'] }));
}

function whyUnreadable(code = '') {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new ProblemError('HEADERS_TOO_LARGE', 'The headers must not exceed 16 kB.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ProblemError('REQUEST_TIMEOUT', 'The request took too long.');
  return new ProblemError('BAD_REQUEST', 'This is not an HTTP request.');
}

/** Converts errors that Express and its body parser mark with a 4xx status: client errors. Returns any other error as it is. */
function ofReading(error: unknown): unknown {
  if (!(error instanceof Error && 'status' in error)) return error;
  if (error.status === 413) return new ProblemError('BODY_TOO_LARGE', 'The body must not be larger than 1 kB.');
  if (error.status === 415) return new ProblemError('UNSUPPORTED_MEDIA_TYPE', `${error.message}.`);
  return Number(error.status) < 500 ? new ProblemError('BAD_REQUEST', error.message) : error;
}
