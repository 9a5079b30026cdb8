import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';

/** What is taken from a client, or from nginx: it gets into logs, and must not look like anything else there. */
const allowed = /^[A-Za-z0-9._-]{1,64}$/;

/** Gives each request an id, the `X-Request-Id` that it came with or a new one. The answer says it, and `response.locals` has it. */
export const giveRequestId: RequestHandler = (request, response, next) => {
  const given = request.get('X-Request-Id') ?? '';
  const requestId = allowed.test(given) ? given : randomUUID();
  response.locals.requestId = requestId;
  response.setHeader('X-Request-Id', requestId);
  next();
};
