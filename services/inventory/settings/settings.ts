import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import {
  backendOf,
  knownVersions,
  lockName,
  mayLockUsers,
  replicasOf,
  strategies,
  takesLease,
} from '../../../locks/index.ts';
import { type ExternalLockModule, nameOfExternalLock } from './external-module.ts';
import {
  LONGEST_WAIT_TIMEOUT_MS,
  MOST_BUCKETS,
  MOST_PERMITS,
  USUAL_BUCKETS,
  USUAL_PERMITS,
  USUAL_WAIT_TIMEOUT_MS,
} from './limits.ts';
import { hasOrders, idempotencyOf, orderSettings, schedulesOf } from './order-settings.ts';
import { isServerUrl, readRedisUrl, readServerUrl } from './server-url.ts';
import { exitWithSettingError, shown } from './setting-error.ts';
import {
  hostName,
  isPort,
  kind,
  list,
  milliseconds,
  oneOf,
  port,
  redisUrl,
  text,
  wholeNumber,
} from './setting-kinds.ts';
import { stockSettings, whyOneStore } from './stock-settings.ts';
import { refusalOf } from './unknown-name.ts';

const FEWEST_MASTERS = 3;
const redlockUrls = () => {
  const allowed = `${FEWEST_MASTERS} or more redis:// addresses, an odd number, separated by commas`;
  return list(allowed, (url) => (isServerUrl(url) ? url : undefined)).refine(
    (urls) => urls.length >= FEWEST_MASTERS && urls.length % 2 === 1 && new Set(urls).size === urls.length,
    allowed,
  );
};

const mysqlUrl = () => {
  const allowed =
    'mysql://user:password@host:port/database (mysqls:// for TLS), with only letters, digits and _ after the last /';
  const isMysqlUrl = (url: string) => /^mysqls?:\/\/[^\s/]+\/\w+$/.test(url) && readServerUrl(url) !== undefined;
  return z
    .string()
    .refine(isMysqlUrl, { error: allowed, abort: true })
    .refine(
      (url) => url.startsWith('mysql:') || isIP(new URL(url).hostname.replace(/[[\]]/g, '')) === 0,
      'mysqls:// with the host name instead of an IP address, because the certificate must contain it',
    );
};

/** The ZooKeeper client does not support IPv6 addresses. */
function isZookeeperUrl(url: string): boolean {
  const [servers = '', ...folders] = url.split('/');
  const isServer = (server: string) => isPort(/^[\w.-]+:(\d+)$/.exec(server)?.[1] ?? '');
  return servers.split(',').every(isServer) && folders.every((folder) => /^[\w-]+$/.test(folder));
}

const zookeeperForm =
  'host:port with a name or an IPv4 address, or several separated by commas, optionally followed by a /path';

/** `file` or `name=file`, separated by commas. */
const lockModules = () =>
  list('absolute paths of modules, separated by commas', (entry): ExternalLockModule | undefined => {
    const [, name, file = ''] = /^(?:([^/=]+)=)?(.*)$/.exec(entry) ?? [];
    return isAbsolute(file) ? { name: name ?? nameOfExternalLock(file), file } : undefined;
  });

export const lockVersion = kind(knownVersions, lockName, Object.keys(strategies));

export const hostForm = 'an IP address of this machine, such as 127.0.0.1';
const whyNoName = 'localhost can have two addresses, and some shells (tcsh) set HOST to the host name';

/**
 * A name may resolve to an address that the whole network reaches, or to two addresses: a node listens on one, nginx tries
 * both.
 */
const host = () =>
  z
    .string()
    .refine((given) => isIP(given) !== 0, `${hostForm}, not a name: ${whyNoName}`)
    .default('127.0.0.1');

const hosts = () => list('names or addresses without a port, separated by commas', hostName);

/** The settings of an inventory node. `.env.example` explains each of them. */
export const inventorySettings = z.object({
  PORT: port().default(7777),
  HOST: host(),
  ALLOWED_HOSTS: hosts().optional(),
  NODE_NAME: text(/^[A-Za-z0-9._-]{1,32}$/, '1 to 32 letters, digits, dots, dashes or underscores').optional(),
  LAB_PORT: port().optional(),
  LAB_HOST: host(),
  LAB_ALLOWED_HOSTS: hosts().optional(),
  REDIS_URL: redisUrl().default('redis://127.0.0.1:6379'),
  REDLOCK_URLS: redlockUrls().optional(),
  MYSQL_URL: mysqlUrl().optional(),
  // A sale that comes later waits for one of them.
  MYSQL_LOCK_CONNECTIONS: wholeNumber(1, 1_000, 'connections').default(10),
  ZOOKEEPER_URL: z.string().refine(isZookeeperUrl, zookeeperForm).optional(),
  LOCK_MODULES: lockModules().optional(),
  LOCK_VERSION: lockVersion.default('8-auto-renew'),
  LOCK_SCOPE: oneOf('sku', 'user').default('sku'),
  LEASE_MS: milliseconds(30, 3_600_000).default(30_000),
  RENEW_EVERY_MS: milliseconds(10, 3_600_000).optional(),
  FIXED_LEASE_MS: milliseconds(30, 3_600_000).optional(),
  // A waiter finds out at its next try that Redis is away, and must be answered within a second.
  RETRY_DELAY_MS: milliseconds(0, 250).default(20),
  WAIT_TIMEOUT_MS: milliseconds(1, LONGEST_WAIT_TIMEOUT_MS).default(USUAL_WAIT_TIMEOUT_MS),
  REQUEST_TIMEOUT_MS: milliseconds(1_000, 600_000).default(300_000),
  DRAIN_MS: milliseconds(0, 60_000).default(1_000),
  BUCKETS: wholeNumber(1, MOST_BUCKETS, 'buckets').default(USUAL_BUCKETS),
  PERMITS: wholeNumber(1, MOST_PERMITS, 'permits').default(USUAL_PERMITS),
  ...stockSettings,
  ...orderSettings,
  LOG_LEVEL: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').default('info'),
});

export type InventorySettings = z.infer<typeof inventorySettings>;

export const nodeName = ({ NODE_NAME, PORT }: InventorySettings) => NODE_NAME ?? String(PORT);

const settingOf = { masters: 'REDLOCK_URLS', mysql: 'MYSQL_URL', zookeeper: 'ZOOKEEPER_URL' } as const;

/** The setting that the lock needs and that is missing. Undefined if none is. */
export function lackingSetting(lock: string, settings: InventorySettings): string | undefined {
  const backend = backendOf(lock);
  // WAIT names no key, so a client of a Cluster asks any of its servers, and not the one that has written.
  const isCluster = readRedisUrl(settings.REDIS_URL)?.form === 'cluster';
  if (replicasOf(lock) > 0 && isCluster) return 'a REDIS_URL with a single server';
  if (backend === 'redis') return undefined;
  return settings[settingOf[backend]] === undefined ? settingOf[backend] : undefined;
}

const refuse = (name: string, value: string | number, why: string) => `${name}=${value} is not allowed: it ${why}.`;

/** Why a combination of individually valid settings is refused, as one sentence. Undefined if it is fine. */
const whyNotTogether = (settings: InventorySettings): string | undefined =>
  whyNoLock(settings) ?? whyNoCache(settings) ?? whyNoJob(settings) ?? whyNoOrders(settings);

function whyNoLock(settings: InventorySettings): string | undefined {
  const { LOCK_VERSION, LOCK_SCOPE, LEASE_MS, RENEW_EVERY_MS, FIXED_LEASE_MS } = settings;
  const lacking = lackingSetting(LOCK_VERSION, settings);
  if (lacking) return refuse('LOCK_VERSION', LOCK_VERSION, `needs ${lacking}`);
  if (RENEW_EVERY_MS !== undefined && RENEW_EVERY_MS >= LEASE_MS)
    return refuse('RENEW_EVERY_MS', RENEW_EVERY_MS, `must be less than LEASE_MS, which is ${LEASE_MS}`);
  if (FIXED_LEASE_MS !== undefined && !takesLease(LOCK_VERSION))
    return refuse('FIXED_LEASE_MS', FIXED_LEASE_MS, `needs LOCK_VERSION=blocking, but that is ${LOCK_VERSION}`);
  if (LOCK_SCOPE === 'sku' || mayLockUsers(LOCK_VERSION)) return undefined;
  return refuse('LOCK_SCOPE', 'user', `needs a lock around the sale, and ${LOCK_VERSION} sells without one`);
}

function whyNoCache(settings: InventorySettings): string | undefined {
  const { STOCK_CACHE, LOCK_VERSION, MYSQL_URL } = settings;
  if (STOCK_CACHE === 'off') return undefined;
  if (MYSQL_URL === undefined) return refuse('STOCK_CACHE', STOCK_CACHE, 'needs MYSQL_URL');
  const why = 'needs ORDERS=off, because the cleanup job returns units to a single store';
  if (hasOrders(settings)) return refuse('STOCK_CACHE', STOCK_CACHE, why);
  const whyOne = whyOneStore(LOCK_VERSION);
  return (
    whyOne && refuse('STOCK_CACHE', STOCK_CACHE, `can't be combined with LOCK_VERSION=${LOCK_VERSION}, which ${whyOne}`)
  );
}

function whyNoJob(settings: InventorySettings): string | undefined {
  const { JOB_LOCK, JOB_LEASE_MS, JOB_MIN_HOLD_MS, ORDER_CLEANUP_OVERLAP } = settings;
  const lacking = hasOrders(settings) && lackingSetting(JOB_LOCK, settings);
  if (lacking) return refuse('JOB_LOCK', JOB_LOCK, `needs ${lacking}`);
  if (JOB_MIN_HOLD_MS >= JOB_LEASE_MS)
    return refuse('JOB_MIN_HOLD_MS', JOB_MIN_HOLD_MS, `must be less than JOB_LEASE_MS, which is ${JOB_LEASE_MS}`);
  const [[schedule] = [], [another] = []] = schedulesOf(settings);
  if (schedule && another) return `${schedule} and ${another} are both set: only one of them is allowed.`;
  if (ORDER_CLEANUP_OVERLAP === 'off' || schedule === 'ORDER_CLEANUP_CRON') return undefined;
  const why = 'needs ORDER_CLEANUP_CRON: the other schedules have one run at a time';
  return refuse('ORDER_CLEANUP_OVERLAP', 'on', why);
}

function whyNoOrders(settings: InventorySettings): string | undefined {
  const why = 'needs MYSQL_URL and ORDERS=on';
  if (hasOrders(settings)) return undefined;
  if (idempotencyOf(settings) === 'table') return refuse('IDEMPOTENCY', 'table', why);
  return settings.PAYMENTS === 'on' ? refuse('PAYMENTS', 'on', why) : undefined;
}

/** Reads the settings of a node. An invalid setting or combination ends the process like `readSettingsOrExit`. */
export function readNodeSettingsOrExit(env: NodeJS.ProcessEnv): InventorySettings {
  const settings = readSettingsOrExit(inventorySettings, env);
  const why = whyNotTogether(settings);
  return why === undefined ? settings : exitWithSettingError(why);
}

/**
 *
 * Reads the settings of `schema`; an empty variable counts as absent. The first invalid value ends the process with exit code 2
 * and one line: the variable, the value, and what is allowed.
 *
 */
export function readSettingsOrExit<T extends z.ZodObject>(schema: T, env: NodeJS.ProcessEnv): z.infer<T> {
  const result = schema.safeParse(givenIn(env));
  return result.success ? result.data : exitWithSettingError(whyRefused(result.error, env));
}

/** Why a node's setting is refused, as a sentence. Undefined if it is valid. */
export function whyNotAllowed(name: keyof InventorySettings, env: NodeJS.ProcessEnv): string | undefined {
  const { error } = z.object({ [name]: inventorySettings.shape[name] }).safeParse(givenIn(env));
  return error && whyRefused(error, env);
}

function givenIn(env: NodeJS.ProcessEnv) {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
}

function whyRefused({ issues: [issue] }: z.ZodError, env: NodeJS.ProcessEnv): string {
  const name = String(issue?.path[0]);
  // What should be a URL and is none may have a password anywhere.
  const said = /_URLS?$/.test(name) ? name : `${name}=${shown(env[name] ?? '')}`;
  return refusalOf(`${said} is not allowed`, env[name] ?? '', namesIn(issue), `${issue?.message}.`);
}

/** The allowed names, if the value is a name. */
function namesIn(issue: z.core.$ZodIssue | undefined): string[] {
  if (issue?.code === 'invalid_value') return issue.values.map(String);
  return issue?.code === 'custom' ? (issue.params?.['names'] ?? []) : [];
}
