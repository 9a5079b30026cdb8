// Real servers as a target: nodes behind nginx, started for the run or already running.

import type { ShownState } from '../../../services/inventory/admin/contract.ts';
import type { Backends } from '../../../stack/backends.ts';
import { callOf } from '../../../stack/call-of.ts';
import { type Stack, type StackOptions, startStack } from '../../../stack/stack.ts';
import type { LabClient, Need, Target } from '../../harness/target.ts';
import { ourWire } from '../../harness/wire.ts';
import { openLabClient } from './lab-client.ts';
import { machineClock, machineNetwork } from './machine.ts';

/** Why the MySQL of a run must not be filled and emptied, as a sentence; undefined when it is private, or there is none. */
export function whyNotOwnMysql(): string | undefined {
  if (!process.env['MYSQL_URL']) return undefined;
  return 'The drill would empty the MySQL at MYSQL_URL. Set MYSQL_URL= to start a private one.';
}

/** Why a drill may not kill the servers that this setting may name, as a sentence; undefined when it may. */
function whyNotOurs(setting: 'MYSQL_URL' | 'ZOOKEEPER_URL', isAlone: boolean): string | undefined {
  if (process.env[setting])
    return `The drill would kill the server at ${setting}. Set ${setting}= to start a private one.`;
  return isAlone
    ? undefined
    : `All stacks of the run share the servers of this lock. ${callOf('drill')} starts its own.`;
}

/** Starts a stack of its own on free ports. `isAlone`: no other uses the servers beyond Redis. */
export async function openLocalTarget(
  options: StackOptions = {},
  backends?: Backends,
  { isAlone = false } = {},
): Promise<Target> {
  const namespace = await backends?.openNamespace();
  // What is measured is the lock: an order costs more than the sale.
  const stack = await startStack({
    ...options,
    env: { ORDERS: 'off', IDEMPOTENCY: 'none', IDEMPOTENCY_REQUIRED: 'off', ...options.env, ...namespace },
  });
  try {
    const nodes = await Promise.all(
      stack.nodes.map(async ({ name, labUrl, link, masterLinks, backendLinks, ...process }) => ({
        name,
        process,
        ...(link && { link }),
        masterLinks,
        backendLinks,
        ...(await openLabClient(labUrl)),
      })),
    );
    // A Redis of our own ends with the stack; a given one is left as it was found.
    const putStockBack = stack.redis.kind === 'external' ? await rememberStock(nodes) : async () => {};
    return {
      clock: machineClock,
      network: machineNetwork,
      wire: ourWire,
      url: stack.nginx.url,
      nodes,
      ...(await describeRedis(stack.redis.kind, nodes, stack.redisSet?.parts)),
      nginx: `${stack.nginx.kind} ${stack.nginx.version}`,
      backends: backends?.versions ?? {},
      ...(namespace?.['MYSQL_URL'] !== undefined && { mysqlUrl: namespace['MYSQL_URL'] }),
      stack,
      ...(backends && isAlone && { lockServers: backends.processes }),
      lacks: {
        ...backends?.lacks,
        'own mysql': whyNotOwnMysql(),
        'mysql processes': whyNotOurs('MYSQL_URL', isAlone),
        'zookeeper processes': whyNotOurs('ZOOKEEPER_URL', isAlone),
        ...lacksOf(stack),
      },
      partDied: stack.partDied,
      async close() {
        await putStockBack();
        await stack.stop();
      },
    };
  } catch (error) {
    await stack.stop();
    throw error;
  }
}

function lacksOf({ redis, redisSet, nodes, masters, replica }: Stack): Target['lacks'] {
  const notOurs = 'The drill would stop the Redis at REDIS_URL, which the lab did not start.';
  const noMasters = 'No masters were started: only redlock uses them.';
  return {
    'node clocks': noNodeClocks,
    ...(masters.length === 0 && { masters: noMasters, 'master processes': noMasters }),
    ...(masters.some(({ process }) => process === undefined) && {
      'master processes': 'The drill would stop the masters at REDLOCK_URLS, which the lab did not start.',
    }),
    ...(nodes.some(({ link }) => link === undefined) && { links: 'The nodes reach Redis without a fault proxy.' }),
    ...(redis.kind === 'external' && { 'redis process': notOurs, replication: notOurs }),
    ...(replica === undefined && { 'lasting replica': whyNoReplica[redis.kind] }),
    ...(redis.kind === 'embedded' && { replication: whyNoReplica.embedded }),
    ...(redisSet && { ...ofSet, 'lasting replica': redisSet.isCluster ? noWait : undefined }),
  };
}

const noNodeClocks = 'A real process uses the clock of its machine. In the simulation each node has its own clock.';

const whyNoReplica: Record<Stack['redis']['kind'], string> = {
  external: 'The lab starts no replica for the Redis at REDIS_URL.',
  native: 'No replica was started: only replicated waits for one.',
  embedded: 'The embedded Valkey does not support replication. Install redis-server or valkey-server.',
};

/** A Redis that fails over by itself can do that, and no fault that takes one server or one line for Redis. */
const oneOfSet = 'This Redis fails over by itself, so the drill would not have its effect. Run it without --redis.';
const ofSet: Target['lacks'] = {
  links: 'Clients of this Redis connect to the primary themselves, past every fault proxy. Run it without --redis.',
  'redis process': oneOfSet,
  'clock server': oneOfSet,
};
const noWait = 'WAIT has no key, so a Cluster client sends it to any server. replicated needs a single Redis.';

/** What only a stack of our own has. */
const broken: Need[] = [
  'node processes',
  'links',
  'redis process',
  'replication',
  'clock server',
  'master processes',
  'lock servers',
];

/** Aims at a stack that runs already. Its lock and its stock are put back on closing. */
export async function openRunningTarget(url: string, labUrls: string[]): Promise<Target> {
  const labs = await Promise.all(labUrls.map(openLabClient));
  const states = await Promise.all(labs.map((lab) => lab.state()));
  for (const [index, { instance, node }] of states.entries()) {
    const first = states.findIndex((state) => state.instance === instance);
    if (first === index) continue;
    throw new Error(`--lab names the same node twice: ${labUrls[first]} and ${labUrls[index]} are both ${node}.`);
  }
  const busy = states.find(({ inFlight }) => inFlight > 0);
  if (busy) throw new Error(`${busy.node} has sales in progress: ${busy.inFlight}. Run it again when they have ended.`);
  const nodes = labs.map((lab, index) => ({ name: states[index]?.node ?? '', ...lab }));
  const putStockBack = await rememberStock(nodes);
  const notOurs = 'The lab does not break a stack that was already running.';
  const answer = await fetch(`${url}/healthz`).catch((error: Error) => {
    throw new Error(`${url} does not respond: ${error.cause instanceof Error ? error.cause.message : error.message}`);
  });
  return {
    clock: machineClock,
    network: machineNetwork,
    wire: ourWire,
    url,
    nodes,
    ...(await describeRedis('external', nodes)),
    backends: {},
    nginx: `external ${answer.headers.get('server') ?? ''}`.trim(),
    lacks: {
      ...Object.fromEntries(broken.map((need) => [need, notOurs])),
      'node clocks': noNodeClocks,
      'lasting replica': 'The lab starts no replica for a stack that was already running.',
    },
    partDied: new Promise(() => {}),
    async close() {
      for (const [index, node] of nodes.entries()) {
        const { lock, scope, leaseMs, renewEveryMs, fixedLeaseMs, ...state } = states[index] as ShownState;
        const { retryDelayMs, waitTimeoutMs } = state;
        const timing = { scope, leaseMs, renewEveryMs, fixedLeaseMs, retryDelayMs, waitTimeoutMs };
        await node.setLock(lock, timing).catch((error: Error) => {
          process.stderr.write(`The lock of ${node.name} could not be restored: ${error.message}\n`);
        });
      }
      await putStockBack();
    },
  };
}

/** What a node says of its Redis. */
async function describeRedis(
  kind: Target['redis']['kind'],
  [node]: LabClient[],
  parts?: string,
): Promise<Pick<Target, 'redis' | 'redisLacks'>> {
  if (node === undefined) return { redis: { kind, version: 'unknown' }, redisLacks: {} };
  const { server, version, masters, lacks } = await node.redis();
  const several = parts ?? (masters > 1 ? `a Cluster of ${masters} masters` : undefined);
  const whole = several === undefined ? '' : `, ${several}`;
  return { redis: { kind, version: `${server} ${version}${whole}` }, redisLacks: lacks };
}

/** Resolves with a function that brings the stock back to what it is now, if the nodes still answer. */
async function rememberStock([node]: LabClient[]): Promise<() => Promise<void>> {
  const stock = await node?.stock();
  return async () => {
    const putBack = stock === undefined ? node?.clear() : node?.setStock(stock);
    await putBack?.catch((error: Error) => process.stderr.write(`The stock could not be restored: ${error.message}\n`));
  };
}
