import type { RedisOptions } from 'ioredis';

/** The Redis of a REDIS_URL: one server, a Cluster, or the master that Sentinels report. */
export type RedisPlace =
  | { form: 'server'; url: string }
  | { form: 'cluster'; nodes: Address[]; access: Access }
  | { form: 'sentinel'; sentinels: Address[]; name: string; db: number; access: Access };

type Address = Required<Pick<RedisOptions, 'host' | 'port'>>;
type Access = Pick<RedisOptions, 'username' | 'password' | 'tls'>;

/** One server: the form that every Redis client supports. */
const server = /^rediss?:\/\/[^\s/,]+(\/\d+)?$/;
const several =
  /^redis(?<tls>s?)\+(?<form>cluster|sentinel):\/\/(?:(?<user>[^\s@/]*)@)?(?<hosts>[^\s@/]+)(?:\/(?<name>[\w.-]+)(?:\/(?<db>\d+))?)?$/;

/** The forms that `readRedisUrl` accepts, as part of a sentence. */
export const redisUrlForms =
  'redis://host:port, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/master-name, or any of these with rediss';

export const isServerUrl = (url: string) => server.test(url) && readServerUrl(url) !== undefined;

export function readRedisUrl(url: string): RedisPlace | undefined {
  if (isServerUrl(url)) return { form: 'server', url };
  const { tls, form, user = '', hosts = '', name, db } = several.exec(url)?.groups ?? {};
  // Only the master of Sentinels has a name.
  if (form === undefined || (form === 'sentinel') !== (name !== undefined)) return undefined;
  try {
    const [username, password] = user.split(/:(.*)/s).map(decodeURIComponent);
    const access = { ...(username && { username }), ...(password && { password }), ...(tls && { tls: {} }) };
    if (name === undefined) return { form: 'cluster', nodes: readHosts(hosts, 6379), access };
    return { form: 'sentinel', sentinels: readHosts(hosts, 26379), name, db: Number(db ?? 0), access };
  } catch {
    // A host, a port or a % that no URL may have.
    return undefined;
  }
}

function readHosts(hosts: string, defaultPort: number): Address[] {
  return hosts.split(',').map((each) => {
    const server = readServerUrl(`redis://${each}`);
    if (server === undefined) throw new Error(`${each} is not host:port.`);
    return { host: server.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(server.port || defaultPort) };
  });
}

/**
 *
 * The parts of `scheme://user:password@host:port/path`. Undefined if no client could connect to it: without a host, with an
 * impossible port, or with an invalid % escape. Nor may it have a query: clients take options from it, over those that the node
 * gives them.
 *
 */
export function readServerUrl(url: string): URL | undefined {
  if (!URL.canParse(url) || /[?#]/.test(url)) return undefined;
  const parts = new URL(url);
  const { hostname, port, username, password } = parts;
  if (hostname === '' || port === '0') return undefined;
  try {
    for (const part of [hostname, username, password]) decodeURIComponent(part);
  } catch {
    return undefined;
  }
  return parts;
}
