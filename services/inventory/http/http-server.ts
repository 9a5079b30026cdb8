// The HTTP server of a listener, and its response when a request does not arrive completely.
//
// Node says which connection has sent too little, or what can't be read. A request whose body is still awaited is answered, in
// its turn behind those before it. Where no request has begun, or all are answered and have arrived, the connection is.
// Otherwise it is hung up: what is written would be taken for the answer to another request. A request that has arrived is not
// cut off, however long its sale takes, unless its connection sends half of another one behind it.

import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import type { Chain } from '../chain.ts';
import { answerUnread, answerUnreadable, isAwaitingBody } from './answer.ts';

/** Longer than nginx keeps an idle connection (2 s), so that no request arrives on a connection that this side is closing. */
const KEEP_ALIVE_MS = 75_000;

/** A request must arrive within so many milliseconds, and is answered a tenth later, at most a second. */
export const arrivalLimits = (requestTimeoutMs: number) => ({
  requestTimeout: requestTimeoutMs,
  connectionsCheckingInterval: Math.min(Math.ceil(requestTimeoutMs / 10), 1_000),
});

/** `open` gets each response of `app` that has not ended yet. */
export function createHttpServer(app: Express, requestTimeoutMs: number, open: Chain<ServerResponse>) {
  const server = createServer(
    {
      ...arrivalLimits(requestTimeoutMs),
      ...classesOf(app),
      keepAliveTimeout: KEEP_ALIVE_MS,
      requireHostHeader: false,
    },
    app,
  );
  const latest = new WeakMap<Duplex, IncomingMessage>();
  server.on('request', (request, response) => {
    latest.set(request.socket, request);
    const link = open.add(response);
    response.on('close', () => open.remove(link));
  });
  server.on('clientError', (error, socket) => {
    const unanswered = open.all().filter(({ req }) => req.socket === socket);
    const unread = unanswered.find(isAwaitingBody);
    const isBusy = unanswered.length > 0 || latest.get(socket)?.complete === false;
    if (unread) answerUnread(error, unread);
    else if (isBusy || !socket.writable) socket.destroy();
    else answerUnreadable(error, socket);
  });
  return server;
}

/**
 * The classes of the requests and responses of `app`, for Node to make them of. Express gives each request and each response
 * that it meets a prototype of its own, and V8 then runs slowly all that Node does with them: a third to a half of what a sale
 * costs its node. These have it from the beginning, so nothing changes. https://github.com/expressjs/express/issues/5998
 * proposes the same to Express; it is open.
 */
export function classesOf(app: Express) {
  class AppRequest extends IncomingMessage {}
  class AppResponse extends ServerResponse<AppRequest> {}
  app.request = Object.setPrototypeOf(AppRequest.prototype, app.request);
  app.response = Object.setPrototypeOf(AppResponse.prototype, app.response);
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}
