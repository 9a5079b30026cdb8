// Keeps web pages out of a listener that has no password: those of another origin, and those whose own name leads to this
// machine (DNS rebinding). The browser says in Host which name it asked for, and in Origin which page asks.

import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { RequestHandler } from 'express';
import { ProblemError } from './problem.ts';

/** Refuses a request whose Host is not of this machine and not among `allowed`, or whose Origin is not the listener itself. */
export function onlyKnownHosts(allowed: readonly string[]): RequestHandler {
  return (request, _response, next) => next(refusalOf(request.headers, allowed));
}

/** Why a request is not answered; undefined when it is to be answered. One without a Host is not. */
export function refusalOf(
  { host = '', origin }: Pick<IncomingHttpHeaders, 'host' | 'origin'>,
  allowed: readonly string[],
): ProblemError | undefined {
  const name = hostName(host.replace(/:\d*$/, ''));
  if (name === undefined || !(isLoopback(name) || allowed.some((each) => hostName(each) === name))) {
    const detail = `This listener does not answer to the name ${host}. LAB_ALLOWED_HOSTS may allow it.`;
    return new ProblemError('HOST_REFUSED', host === '' ? 'The request has no Host.' : detail);
  }
  if (origin === undefined || (originOf(`http://${host}`) ?? '') === originOf(origin)) return undefined;
  return new ProblemError('ORIGIN_REFUSED', `This listener answers no page of ${origin || 'an empty origin'}.`);
}

/** One form for all spellings of a name or an address, without the dot at the end. Undefined when it is none. */
export function hostName(given: string): string | undefined {
  const name = isIP(given) === 6 ? `[${given}]` : given;
  // An address with a zone (%eth0) is for this machine alone: no Host has one.
  if (!/^([\w.-]+|\[[\da-f:.]+\])$/i.test(name) || !URL.canParse(`http://${name}`)) return undefined;
  return new URL(`http://${name}`).hostname.replace(/\.$/, '') || undefined;
}

/** 127.0.0.0/8, also as an IPv6 address, ::1 and localhost. */
const isLoopback = (name: string) =>
  name === 'localhost' || /^(127\.[\d.]+|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\])$/.test(name);

const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : undefined);
