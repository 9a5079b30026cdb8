import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Express } from 'express';
import { pino } from 'pino';
import { ANSWER_LIMIT_MS } from '../../locks/drivers/answer-limit.ts';
import { addExternalLock, commandsOfLocks, lockName, registry } from '../../locks/index.ts';
import { createEventStreams } from './admin/event-stream.ts';
import { createLabApp } from './admin/listener.ts';
import { watchStandstills } from './admin/standstills.ts';
import { createChain } from './chain.ts';
import { drain } from './http/drain.ts';
import { createHttpServer } from './http/http-server.ts';
import { createPublicApp } from './http/public.ts';
import { createOrders, type OtherParts } from './orders/orders.ts';
import { factsOfPromises, supervised } from './sale/external-lock.ts';
import { createHistory } from './sale/history.ts';
import { createMetrics } from './sale/metrics.ts';
import { createSaleService } from './sale/sale-service.ts';
import { openTwoStores } from './sale/stores/index.ts';
import { createOutageLog } from './servers/outage-log.ts';
import { connectServers } from './servers/servers.ts';
import { connectStore } from './servers/store.ts';
import { loadEnvFile } from './settings/env-file.ts';
import { readExternalModule } from './settings/external-module.ts';
import { exitWithSettingError } from './settings/setting-error.ts';
import {
  hostForm,
  inventorySettings,
  nodeName,
  readNodeSettingsOrExit,
  readSettingsOrExit,
} from './settings/settings.ts';

/**
 * How many connections may wait to be accepted: as many as in nginx. A rush opens its connections all at once, and Linux drops
 * one that finds the queue full (511 is Node's), which then waits for a second, and for three.
 */
const BACKLOG = 4_096;
/** How long a stopping node tries to release its locks in Redis, in milliseconds. */
const RELEASE_LIMIT_MS = 1_000;
/** How long it waits for slow clients to read their last responses, in milliseconds. */
const LAST_ANSWERS_LIMIT_MS = 2_000;

/** Starts this process as a node, which listens until a signal stops it. */
export async function startNode(otherParts: OtherParts = {}) {
  loadEnvFile();
  // First, so that LOCK_VERSION may name them.
  await addExternalLocks();
  const settings = readNodeSettingsOrExit(process.env);
  const node = nodeName(settings);
  // Synchronous, so that the last lines before the end are neither lost nor out of order.
  const log = pino({ level: settings.LOG_LEVEL, base: { node } }, pino.destination({ sync: true }));
  const store = connectStore(settings.REDIS_URL, settings.BUCKETS, commandsOfLocks, log);
  const outage = createOutageLog('Redis', log);
  // A client that the node ends itself does not try again.
  store.redis.on('reconnecting', outage.began).on('ready', outage.ended);
  // Only the lab listener shows it.
  const history = createHistory(node, settings.LAB_PORT === undefined ? 0 : undefined);
  const metrics = createMetrics();
  const servers = connectServers(store.redis, settings, log, metrics.watchPool);
  /** Open responses of both listeners. */
  const open = createChain<ServerResponse>();
  /** What a stopping node closes, in order. */
  const duties = { isReady: true, keepsConnections: true, takesWork: true };

  const twoStores = openTwoStores(settings, store, servers);
  const saleParts = { registry, settings, node, store, twoStores, servers, history, metrics, log };
  const sales = createSaleService(saleParts);
  const standstills = watchStandstills();
  const state = () => ({ ...sales.state(), answering: orders.answering(), standstills: standstills() });
  const streams = createEventStreams(history, sales.state);
  const parts = { ...saleParts, sales, isStopping: () => !duties.takesWork };
  const orders = createOrders(parts, otherParts);

  const publicApp = createPublicApp({ ...parts, orders, duties, hosts: settings.ALLOWED_HOSTS ?? [] });
  // A node that restarts gets requests as soon as it listens. It listens, too, when Redis is away, which an error says.
  const gathered = store
    .back()
    .then(sales.gatherBuckets)
    .catch(({ message }) => log.warn(message));
  await Promise.race([gathered, sleep(ANSWER_LIMIT_MS)]);
  const publicServer = await listen(publicApp, '', settings.PORT, settings.HOST);
  if (settings.LAB_PORT !== undefined) {
    const hosts = [settings.LAB_HOST, ...(settings.LAB_ALLOWED_HOSTS ?? [])];
    const labApp = createLabApp({ ...parts, state, streams, hosts, shop: orders.shop });
    await listen(labApp, 'LAB_', settings.LAB_PORT, settings.LAB_HOST);
  }

  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  log.info({ port: settings.PORT, labPort: settings.LAB_PORT, lock: settings.LOCK_VERSION }, 'listening');

  /** The settings for port and host start with `prefix`. */
  async function listen(app: Express, prefix: '' | 'LAB_', port: number, host: string) {
    const server = createHttpServer(app, settings.REQUEST_TIMEOUT_MS, open);
    server.listen({ port, host, backlog: BACKLOG });
    try {
      await once(server, 'listening');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'EADDRINUSE' && code !== 'EACCES') {
        exitWithSettingError(`${prefix}HOST=${host} is not allowed: it must be ${hostForm}.`);
      }
      exitWithSettingError(`${prefix}PORT=${port} can't be opened: ${message}.`);
    }
    return server;
  }

  /**
   * Serves for DRAIN_MS, then refuses new sales, finishes those in flight, releases the locks and exits with 0. A second signal
   * exits at once.
   */
  async function stop(signal: NodeJS.Signals) {
    if (!duties.isReady) process.exit(1);
    duties.isReady = false;
    log.info({ signal }, 'stopping');
    // Ctrl-C waits for no load balancer.
    if (signal === 'SIGTERM' && settings.DRAIN_MS > 0) await drain(publicServer, settings.DRAIN_MS, endConnections);
    else endConnections();
    duties.takesWork = false;
    const closed = new Promise((resolve) => publicServer.close(resolve));
    streams.end();
    sales.endScripts();
    orders.end();
    await sales.salesEnded();
    await orders.ended();
    await Promise.race([sales.locksGivenUp(), sleep(RELEASE_LIMIT_MS)]);
    const { unreleased } = sales.state();
    if (unreleased > 0) log.warn({ unreleased }, 'locks were not released: the node stops');
    await Promise.all([servers.close(), orders.close()]);
    await Promise.race([closed, sleep(LAST_ANSWERS_LIMIT_MS)]);
    log.info('stopped');
    process.exit(0);
  }

  function endConnections() {
    duties.keepsConnections = false;
    for (const response of open.all()) if (!response.headersSent) response.setHeader('Connection', 'close');
  }
}

async function addExternalLocks() {
  const { LOCK_MODULES = [] } = readSettingsOrExit(inventorySettings.pick({ LOCK_MODULES: true }), process.env);
  for (const { name, file } of LOCK_MODULES) {
    const refuse = (why: string) => exitWithSettingError(`LOCK_MODULES has ${file}, which is not allowed: ${why}.`);
    if (lockName(name) !== undefined) refuse(`another lock is called ${name}`);
    const { createLock, promises } = await readExternalModule(file).catch((error: Error) => refuse(error.message));
    addExternalLock(name, supervised(createLock), factsOfPromises(promises));
  }
}
