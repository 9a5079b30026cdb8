import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import dotenv from 'dotenv';
import { pino } from 'pino';
import { addExternalLock, lockName } from '../../locks/index.ts';
import { answerUnreadable } from './answer.ts';
import { loadExternalLock } from './external-lock.ts';
import { createHistory } from './history.ts';
import { createLabApp } from './lab/listener.ts';
import { createMetrics } from './metrics.ts';
import { createCleanUp } from './orders/cleanup.ts';
import { createAnswers } from './orders/idempotency/index.ts';
import { createPublicApp } from './public.ts';
import { createSaleDesk } from './sale-service.ts';
import { connectServers, lackingSetting } from './servers.ts';
import { exitWithSettingError, inventorySettings, labHostAllowed, readSettingsOrExit } from './settings.ts';
import { connectStore } from './store.ts';

/** Longer than nginx keeps an idle connection (60 s): a request must never meet a connection that this side closes. */
const KEEP_ALIVE_MS = 75_000;
/** How long a stopping node waits for Redis to take its locks back, in milliseconds. */
const RELEASE_LIMIT_MS = 1_000;
/** How long it waits for slow clients to read their last answers, in milliseconds. */
const LAST_ANSWERS_LIMIT_MS = 2_000;

dotenv.config({ quiet: true });
// First, so that LOCK_VERSION may name them.
await addExternalLocks();
const settings = readSettingsOrExit(inventorySettings, process.env);
const lacking = lackingSetting(settings.LOCK_VERSION, settings);
if (lacking) exitWithSettingError(`LOCK_VERSION=${settings.LOCK_VERSION} is not allowed: it needs ${lacking}.`);
const lackingForJobs = lackingSetting(settings.JOB_LOCK, settings);
const hasOrders = settings.MYSQL_URL !== undefined && settings.ORDERS === 'on';
if (hasOrders && lackingForJobs) {
  exitWithSettingError(`JOB_LOCK=${settings.JOB_LOCK} is not allowed: it needs ${lackingForJobs}.`);
}
if (settings.JOB_MIN_HOLD_MS >= settings.JOB_LEASE_MS) {
  exitWithSettingError(
    `JOB_MIN_HOLD_MS=${settings.JOB_MIN_HOLD_MS} is not allowed: it must be less than JOB_LEASE_MS, which is ${settings.JOB_LEASE_MS}.`,
  );
}
const idempotency = settings.IDEMPOTENCY ?? (hasOrders ? 'table' : 'none');
if (idempotency === 'table' && !hasOrders) {
  exitWithSettingError('IDEMPOTENCY=table is not allowed: it needs MYSQL_URL, and ORDERS=on.');
}
const node = settings.NODE_NAME ?? String(settings.PORT);
// Synchronous, so that the last lines before the end are neither lost nor out of order.
const log = pino({ level: settings.LOG_LEVEL, base: { node } }, pino.destination({ sync: true }));
const store = connectStore(settings.REDIS_URL);
const history = createHistory(node);
const metrics = createMetrics();
const servers = connectServers(store.redis, settings);
const desk = createSaleDesk({ settings, node, store, servers, history, metrics });
const cleanUp = servers.orders && createCleanUp({ settings, node, orders: servers.orders, store, servers, desk, log });
const answers = createAnswers({
  idempotency,
  isRequired: settings.IDEMPOTENCY_REQUIRED === 'on',
  servers: () => servers.forLease(settings.LEASE_MS),
  orders: servers.orders?.mysql,
  leaseMs: settings.LEASE_MS,
  waitTimeoutMs: settings.WAIT_TIMEOUT_MS,
  keepMs: settings.IDEMPOTENCY_KEEP_MS,
});
/** Answers that have not ended yet, of both listeners. */
const open = new Set<ServerResponse>();
let isStopping = false;

const publicApp = createPublicApp({
  desk,
  store,
  orders: servers.orders,
  answers,
  metrics,
  log,
  isStopping: () => isStopping,
});
const publicServer = await listen(publicApp, 'PORT', settings.PORT);
if (settings.LAB_PORT !== undefined) {
  await listen(
    createLabApp({ desk, store, orders: servers.orders, cleanUp, history, log }),
    'LAB_PORT',
    settings.LAB_PORT,
    settings.LAB_HOST,
  );
}

process.on('SIGTERM', stop);
process.on('SIGINT', stop);
log.info({ port: settings.PORT, labPort: settings.LAB_PORT, lock: settings.LOCK_VERSION }, 'listening');

async function addExternalLocks() {
  const { LOCK_MODULES = [] } = readSettingsOrExit(inventorySettings.pick({ LOCK_MODULES: true }), process.env);
  for (const { name, file } of LOCK_MODULES) {
    const refuse = (why: string) => exitWithSettingError(`LOCK_MODULES has ${file}, which is not allowed: ${why}.`);
    if (lockName(name) !== undefined) refuse(`${name} is the name of another lock`);
    addExternalLock(name, await loadExternalLock(file).catch((error: Error) => refuse(error.message)));
  }
}

async function listen(app: RequestListener, variable: string, port: number, host?: string) {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, app);
  server.on('request', (_request, response) => {
    open.add(response);
    response.on('close', () => open.delete(response));
  });
  server.on('clientError', (error, socket) => {
    // An answer now would be taken for that of the request before.
    const isBusy = [...open].some((response) => response.socket === socket);
    if (isBusy || !socket.writable) socket.destroy();
    else answerUnreadable(error, socket);
  });
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (host !== undefined && code !== 'EADDRINUSE' && code !== 'EACCES') {
      exitWithSettingError(`LAB_HOST=${host} is not allowed: it must be ${labHostAllowed}.`);
    }
    exitWithSettingError(`${variable}=${port} cannot be listened on: ${message}.`);
  }
  return server;
}

/** Refuses new sales, finishes those in flight, gives up the locks, then ends with 0. A second signal ends at once. */
async function stop(signal: NodeJS.Signals) {
  if (isStopping) process.exit(1);
  isStopping = true;
  log.info({ signal }, 'stopping');
  const closed = new Promise((resolve) => publicServer.close(resolve));
  // Tells clients that keep their connection to send nothing more on it.
  for (const response of open) if (!response.headersSent) response.setHeader('Connection', 'close');
  desk.endScripts();
  cleanUp?.end();
  await Promise.all([desk.salesEnded(), cleanUp?.ended()]);
  await servers.orders?.ended();
  await answers.ended();
  await Promise.race([desk.locksGivenUp(), sleep(RELEASE_LIMIT_MS)]);
  await servers.close();
  await Promise.race([closed, sleep(LAST_ANSWERS_LIMIT_MS)]);
  log.info('stopped');
  process.exit(0);
}
