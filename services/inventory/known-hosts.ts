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
  if (origin === undefined || isPageOf(origin, host)) return undefined;
  return new ProblemError('ORIGIN_REFUSED', `This listener answers no page of ${origin || 'an empty origin'}.`);
}

/** One form for all spellings of a name or an address: without brackets and the dot at the end. Undefined when it is none. */
export function hostName(given: string): string | undefined {
  const bare = given
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  // An address with a zone (%eth0) is for this machine alone: no Host has one.
  if (isIP(bare) === 6 && !bare.includes('%')) return new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const isBracketed = given.startsWith('[');
  return isBracketed || !/^[\w-]+(\.[\w-]+)*$/.test(bare) ? undefined : bare;
}

/** 127.0.0.0/8, also as an IPv6 address, ::1 and localhost. */
function isLoopback(name: string): boolean {
  if (isIP(name) === 0) return name === 'localhost';
  return name === '::1' || /^(127\.|::ffff:7f[\da-f]{2}:)/.test(name);
}

/** An Origin is a scheme, a host and a port, and nothing more. Listeners here have no TLS. */
function isPageOf(origin: string, host: string): boolean {
  const own = `http://${host}`;
  if (!/^http:\/\/[^/@?#]+$/i.test(origin) || !URL.canParse(origin) || !URL.canParse(own)) return false;
  return new URL(origin).host === new URL(own).host;
}
