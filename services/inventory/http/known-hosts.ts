// Keeps web pages out of a listener without a password: pages of other sites, and pages whose own name leads to this
// machine (DNS rebinding). The browser says in Host which name it asked for, in Origin which page asks, and in
// Sec-Fetch-Site how far apart the two are, also with a GET that has no Origin. It says that on loopback and over TLS
// alone, and not before 2023 in every browser. Programs send none of them but Host.

import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { Request, RequestHandler } from 'express';
import { ProblemError } from '../problem.ts';
import { hostName } from '../settings/setting-kinds.ts';

type Asked = Pick<IncomingHttpHeaders, 'host' | 'origin' | 'sec-fetch-site'>;

/** Refuses a request whose Host is neither this machine nor in `allowed`, and a request from a page of another origin. */
export function onlyKnownHosts(allowed: readonly string[]): RequestHandler {
  return (request, _response, next) => next(refusalOf(request.headers, allowed));
}

/** Why a request is refused; undefined if it is not. A request without a Host is refused. */
export function refusalOf(asked: Asked, allowed: readonly string[]): ProblemError | undefined {
  const { host = '', origin, 'sec-fetch-site': site } = asked;
  const name = nameIn(host);
  if (name === undefined || !(isLoopback(name) || isAmong(allowed, name))) {
    const detail = `This listener does not answer to the name ${host}. LAB_ALLOWED_HOSTS can allow it.`;
    return new ProblemError('HOST_REFUSED', host === '' ? 'The request has no Host header.' : detail);
  }
  if (origin !== undefined && (originOf(`http://${host}`) ?? '') !== originOf(origin)) {
    return new ProblemError('ORIGIN_REFUSED', `This listener does not answer pages of ${origin || 'an empty origin'}.`);
  }
  // An address that the user has typed comes from no site.
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
  return new ProblemError(
    'ORIGIN_REFUSED',
    'This listener does not answer pages of other sites. Type the address instead.',
  );
}

/**
 * Refuses changes by pages of other sites; any GET is answered. A page may be of this machine, of
 * the address that it asks, which no other name can stand for, or of a host among `allowed`: its name alone may be rebound.
 */
export function mustNotBeForeign({ method, headers }: Pick<Request, 'method' | 'headers'>, allowed: readonly string[]) {
  if (method === 'GET' || method === 'HEAD' || !isForeign(headers, allowed)) return;
  const page = headers.origin === undefined ? 'another site' : headers.origin || 'an empty origin';
  throw new ProblemError(
    'ORIGIN_REFUSED',
    `A page of ${page} may not change anything here. ALLOWED_HOSTS can allow its host.`,
  );
}

function isForeign({ host = '', origin, 'sec-fetch-site': site }: Asked, allowed: readonly string[]): boolean {
  if (origin === undefined) return site === 'cross-site';
  const name = URL.canParse(origin) ? hostName(new URL(origin).hostname) : undefined;
  if (name === undefined) return true;
  const isOwnAddress = isIP(name.replace(/[[\]]/g, '')) !== 0 && name === nameIn(host);
  return !(isLoopback(name) || isOwnAddress || isAmong(allowed, name));
}

const nameIn = (host: string) => hostName(host.replace(/:\d*$/, ''));
const isAmong = (allowed: readonly string[], name: string) => allowed.some((each) => hostName(each) === name);

/** 127.0.0.0/8, also as an IPv6 address, ::1 and localhost. */
const isLoopback = (name: string) =>
  name === 'localhost' || /^(127\.[\d.]+|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]+\])$/.test(name);

const originOf = (url: string) => (URL.canParse(url) ? new URL(url).origin : undefined);
