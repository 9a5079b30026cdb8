/** The Redis that a REDIS_URL names: one server, a Cluster, or the master that Sentinels name. */
export type RedisPlace =
  | { form: 'server'; url: string }
  | ({ form: 'cluster'; nodes: Address[] } & Access)
  | ({ form: 'sentinel'; sentinels: Address[]; name: string; db: number } & Access);

export interface Address {
  host: string;
  port: number;
}

interface Access {
  isTls: boolean;
  username?: string;
  password?: string;
}

/** One server: the form that every client of Redis knows. */
const server = /^rediss?:\/\/[^\s/,]+(\/\d+)?$/;
const cluster = /^redis(?<tls>s?)\+cluster:\/\/(?:(?<user>[^\s@/]*)@)?(?<hosts>[^\s@/]+)$/;
const sentinel =
  /^redis(?<tls>s?)\+sentinel:\/\/(?:(?<user>[^\s@/]*)@)?(?<hosts>[^\s@/]+)\/(?<name>[\w.-]+)(?:\/(?<db>\d+))?$/;

/** The forms that `readRedisUrl` reads, as part of a sentence. */
export const redisUrlForms =
  'redis://host:port, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/master-name, or one of them with rediss';

/** True for the address of one server. */
export const isServerUrl = (url: string) => server.test(url) && URL.canParse(url);

/** Undefined when it has none of the three forms. */
export function readRedisUrl(url: string): RedisPlace | undefined {
  if (isServerUrl(url)) return { form: 'server', url };
  try {
    const inCluster = cluster.exec(url)?.groups;
    if (inCluster) return { form: 'cluster', nodes: readHosts(inCluster['hosts'], 6379), ...readAccess(inCluster) };
    const bySentinel = sentinel.exec(url)?.groups;
    if (bySentinel === undefined) return undefined;
    const { hosts, name = '', db } = bySentinel;
    return {
      form: 'sentinel',
      sentinels: readHosts(hosts, 26379),
      name,
      db: Number(db ?? 0),
      ...readAccess(bySentinel),
    };
  } catch {
    // A host, a port or a % that no URL may have.
    return undefined;
  }
}

function readHosts(hosts = '', defaultPort: number): Address[] {
  return hosts.split(',').map((each) => {
    const { hostname, port, search, hash } = new URL(`redis://${each}`);
    if (hostname === '' || search || hash) throw new Error(`${each} is not host:port.`);
    return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || defaultPort) };
  });
}

function readAccess({ tls, user }: Record<string, string | undefined>): Access {
  const [username, password] = (user ?? '').split(/:(.*)/s).map(decodeURIComponent);
  return { isTls: tls === 's', ...(username && { username }), ...(password && { password }) };
}
