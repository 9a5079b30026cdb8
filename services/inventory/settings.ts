import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { knownVersions, lockName } from '../../locks/index.ts';
import { type ExternalLockModule, nameOfExternalLock } from './external-lock.ts';
import { guardName, knownGuards } from './orders/jobs/guards.ts';
import { cronForm, whyNoCron } from './orders/schedule.ts';
import { isServerUrl, readRedisUrl, redisUrlForms } from './redis-url.ts';

function wholeNumber(min: number, max: number, meaning: string) {
  const allowed = `a whole number from ${min} to ${max} (${meaning})`;
  return z
    .string()
    .regex(/^\d+$/, allowed)
    .transform(Number)
    .refine((given) => given >= min && given <= max, allowed);
}

export const port = () => wholeNumber(1, 65_535, 'a TCP port');
export const milliseconds = (min: number, max: number) => wholeNumber(min, max, 'milliseconds');
export const text = (pattern: RegExp, allowed: string) => z.string().regex(pattern, allowed);
export const redisUrl = () => z.string().refine((url) => readRedisUrl(url) !== undefined, redisUrlForms);

const FEWEST_MASTERS = 3;
const redlockUrls = () => {
  const allowed = `${FEWEST_MASTERS} or more redis:// addresses, an odd number of them, with commas between them`;
  return z
    .string()
    .transform((urls) => urls.split(',').map((url) => url.trim()))
    .refine((urls) => urls.every(isServerUrl), allowed)
    .refine(
      (urls) => urls.length >= FEWEST_MASTERS && urls.length % 2 === 1 && new Set(urls).size === urls.length,
      allowed,
    );
};

const mysqlUrl = () => {
  const allowed = 'mysql://user:password@host:port/database';
  return text(/^mysql:\/\/[^\s/]+\/\w+$/, allowed).refine((url) => URL.canParse(url), allowed);
};

const zookeeperUrl = () =>
  text(
    /^[\w.[\]-]+:\d+(,[\w.[\]-]+:\d+)*(\/[\w-]+)*$/,
    'host:port, or several with commas between them, and perhaps a /path',
  );

/** `file` or `name=file`, with commas between them. */
const lockModules = () =>
  z.string().transform((text, context): ExternalLockModule[] => {
    const modules = text.split(',').map((entry) => {
      const [, name, file = ''] = /^(?:([^/=]+)=)?(.*)$/.exec(entry.trim()) ?? [];
      return { name: name ?? nameOfExternalLock(file), file };
    });
    if (modules.every(({ file }) => isAbsolute(file))) return modules;
    context.addIssue({ code: 'custom', message: 'absolute paths of modules, with commas between them' });
    return z.NEVER;
  });

export const lockVersion = z.string().transform((version, context) => {
  const name = lockName(version);
  if (name !== undefined) return name;
  context.addIssue({ code: 'custom', message: knownVersions });
  return z.NEVER;
});

/** The guard of a job. Read after the guests are added: it may be one of their locks. */
export const jobLock = z.string().transform((given, context) => {
  const name = guardName(given);
  if (name !== undefined) return name;
  context.addIssue({ code: 'custom', message: knownGuards });
  return z.NEVER;
});

const cron = () =>
  z.string().superRefine((expression, context) => {
    const why = whyNoCron(expression);
    if (why !== undefined) context.addIssue({ code: 'custom', message: `${cronForm}; ${why}` });
  });

export const labHostAllowed = 'an address of this machine, such as 127.0.0.1';

/** The settings of one inventory node. `.env.example` explains each of them. */
export const inventorySettings = z.object({
  PORT: port().default(7777),
  NODE_NAME: text(/^[A-Za-z0-9._-]{1,32}$/, '1 to 32 letters, digits, dots, dashes or underscores').optional(),
  LAB_PORT: port().optional(),
  LAB_HOST: text(/^[A-Za-z0-9.:-]+$/, labHostAllowed).default('127.0.0.1'),
  REDIS_URL: redisUrl().default('redis://127.0.0.1:6379'),
  REDLOCK_URLS: redlockUrls().optional(),
  MYSQL_URL: mysqlUrl().optional(),
  ZOOKEEPER_URL: zookeeperUrl().optional(),
  LOCK_MODULES: lockModules().optional(),
  LOCK_VERSION: lockVersion.default('8-auto-renew'),
  LEASE_MS: milliseconds(30, 3_600_000).default(30_000),
  // A waiter learns at its next try that Redis is away, and must be answered within a second.
  RETRY_DELAY_MS: milliseconds(0, 250).default(20),
  WAIT_TIMEOUT_MS: milliseconds(1, 600_000).default(10_000),
  ORDERS: z.enum(['on', 'off'], { error: 'on or off' }).default('on'),
  UNIT_PRICE: wholeNumber(1, 100_000_000, 'cents').default(1_000),
  ORDER_TTL_MS: milliseconds(1, 2_592_000_000).default(900_000),
  ORDER_CLEANUP_CRON: cron().optional(),
  JOB_LOCK: jobLock.default('conditional'),
  JOB_LEASE_MS: milliseconds(30, 3_600_000).default(30_000),
  JOB_MIN_HOLD_MS: milliseconds(0, 3_600_000).default(0),
  REFUND: z.enum(['conditional', 'look-first'], { error: 'conditional or look-first' }).default('conditional'),
  IDEMPOTENCY: z
    .enum(['none', 'in-process', 'lock', 'table'], { error: 'one of none, in-process, lock, table' })
    .optional(),
  IDEMPOTENCY_REQUIRED: z.enum(['on', 'off'], { error: 'on or off' }).default('off'),
  IDEMPOTENCY_KEEP_MS: milliseconds(1, 2_592_000_000).default(86_400_000),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'one of fatal, error, warn, info, debug, trace, silent',
    })
    .default('info'),
});

export type InventorySettings = z.infer<typeof inventorySettings>;

/**
 * Reads the settings that `schema` names; an empty variable counts as absent. The first value that is not allowed ends
 * the process with exit code 2 and one line: the variable, the value, and what is allowed.
 */
export function readSettingsOrExit<T extends z.ZodObject>(schema: T, env: NodeJS.ProcessEnv): z.infer<T> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const name = String(issue?.path[0]);
  return exitWithSettingError(`${name}=${given[name] ?? ''} is not allowed: it must be ${issue?.message}.`);
}

/** Ends the process with exit code 2 and the sentence as one line, without the password of a URL. */
export function exitWithSettingError(sentence: string): never {
  const line = sentence.replace(/\s+/g, ' ').replace(/\/\/.*@/, '//***@');
  process.stderr.write(`${line}\n`);
  process.exit(2);
}
