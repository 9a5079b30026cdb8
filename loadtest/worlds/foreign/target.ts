// Two copies of a service as a target of the harness: learns the service, and says what it can break and what it can't.

import { setTimeout as sleep } from 'node:timers/promises';
import type { SaleAnswer } from '../../evidence/answers.ts';
import type { Network } from '../../harness/network.ts';
import type { Need, Target } from '../../harness/target.ts';
import type { Wire } from '../../harness/wire.ts';
import { because } from '../../narration/reasons.ts';
import { machineClock, machineNetwork } from '../real/machine.ts';
import { readByMask } from './answers.ts';
import { type Learned, wireOf } from './learned.ts';
import { type ForeignNode, foreignNodeOf, no } from './node.ts';
import { openRunningStack } from './running.ts';
import { openForeignStack, type Service } from './stack.ts';

/** How long a copy may take to sell after it was started, in milliseconds, and after the last drill. */
export const WARM_LIMIT_MS = 10_000;
const AGAIN_LIMIT_MS = 3_000;
/** How long what a drill has left behind may take to end, in milliseconds. */
const CALM_LIMIT_MS = 2_000;
const PLENTY = 1_000;
/** So many sales at once go through the connections of a pool, where a sale takes no longer than this, in milliseconds. */
const POOLED = 6;
const QUICK_SALE_MS = 50;
/** A buyer who has no answer by then goes away, in milliseconds, and at the latest: a service may keep him waiting for ever. */
const BUYER_LIMIT_MS = 10_000;
const LAST_LIMIT_MS = 40_000;

/** He waits for longer than a lease. */
function untilGivenUp(signal: AbortSignal | undefined, leaseMs = 0) {
  const limitMs = leaseMs < LAST_LIMIT_MS ? Math.max(BUYER_LIMIT_MS, 1.2 * leaseMs) : BUYER_LIMIT_MS;
  const hasGivenUp = AbortSignal.timeout(limitMs);
  return signal ? AbortSignal.any([signal, hasGivenUp]) : hasGivenUp;
}

export interface ForeignTarget extends Omit<Target, 'nodes'> {
  nodes: [ForeignNode, ForeignNode];
  leaseMs: number;
  /** What was learned of the service is known from here on. */
  know(learned: Learned): void;
  /** Makes it ready for a drill: nothing of the last one goes on, and both copies sell. */
  calm(): Promise<void>;
  /** Starts both copies again, with this lease. */
  restart(leaseMs: number): Promise<void>;
}

/** Starts two copies of the service, each with a lease of so many milliseconds, if it obeys; or takes those that run already. */
export async function openForeignTarget(
  service: Service,
  asked: Parameters<typeof openForeignStack>[1],
): Promise<ForeignTarget> {
  const { leaseMs } = asked;
  const { running } = service;
  const stack = running ? await openRunningStack(running) : await openForeignStack(service, asked);
  const [first, second] = stack.copies;
  const nodes: ForeignTarget['nodes'] = [
    foreignNodeOf(first, leaseMs, service.row),
    foreignNodeOf(second, leaseMs, service.row),
  ];
  const ownLacks = stack.startReplica === undefined ? { replication: noReplication } : {};
  let known: Learned | undefined;

  const target: ForeignTarget = {
    clock: machineClock,
    network: {
      ...machineNetwork,
      /** A sale of a drill is known while it is under way. */
      async request(request) {
        const { url, requestId } = request;
        const node = nodes.find(({ publicUrl }) => publicUrl === url.origin);
        if (!node || url.pathname !== known?.sale.path.split('?')[0]) return machineNetwork.request(request);
        node.sales.came(requestId);
        let answer: SaleAnswer | undefined;
        try {
          const signal = untilGivenUp(request.signal, known.lock.leaseMs);
          const given = await machineNetwork.request({ ...request, signal });
          answer = readByMask(known.answers, given.status, given.body);
          return given;
        } finally {
          node.sales.ended(answer, requestId);
        }
      },
      async loadScripts() {},
    },
    // Nothing is played before it is learned.
    wire: undefined as never,
    url: stack.url,
    nodes,
    leaseMs,
    redis: { kind: stack.redis.kind, version: '' },
    redisLacks: {},
    nginx: stack.nginx,
    backends: {},
    stack: {
      ...stack,
      async startClockServer() {
        throw new Error(lacks['clock server']);
      },
      masters: [],
      nginx: undefined as never,
    },
    lacks: { ...lacks, ...ownLacks },
    partDied: stack.partDied,
    know(learned) {
      known = learned;
      target.wire = wireOf(learned);
      target.lacks = { ...lacks, ...ownLacks, ...lacksOf(learned) };
      stack.lock.isInRedis = isLockInRedis(learned);
      for (const node of nodes) node.know(learned);
    },
    calm,
    async restart(ms) {
      target.leaseMs = ms;
      stack.lock.leaseMs = ms;
      for (const node of nodes) await again(node);
      await nodes[0].setStock(PLENTY);
      for (const node of nodes) await warmUp(target, node, WARM_LIMIT_MS);
    },
    async close() {
      for (const node of nodes) node.closeServer();
      await stack.stop();
    },
  };
  return target;

  function lacksOf(learned: Learned): Target['lacks'] {
    const { read, write, row, usesRedis, isUnreadable } = learned;
    const isOneStep = read === undefined && write !== '';
    return {
      ...(isOneStep && { 'business pause': oneStep }),
      ...(isUnreadable && { 'business pause': unreadable }),
      ...(row && !usesRedis && { 'redis process': noRedis }),
      ...(!isUnreadable && !isLockInRedis(learned) && { replication: noRedis }),
    };
  }

  async function again(node: ForeignNode) {
    await node.process?.kill();
    await node.clear();
    await node.process?.start();
  }

  async function calm() {
    const [first] = nodes;
    await first.setStock(PLENTY);
    await first.clear();
    for (const node of nodes) {
      // Who still waits for the lock of a drill that is over gets it now, or is ended with its process.
      const isQuiet = await node.untilQuiet(CALM_LIMIT_MS);
      if (!isQuiet) await again(node);
      await warmUp(target, node, AGAIN_LIMIT_MS).catch(async () => {
        await again(node);
        await warmUp(target, node, WARM_LIMIT_MS);
      });
      // A pool keeps connections that the last drill has broken: whoever takes one is told of an error, and it is no more.
      if (known && known.saleMs < QUICK_SALE_MS)
        await Promise.all(
          Array.from({ length: POOLED }, () => sellAt(node, target.network, target.wire.sale, AGAIN_LIMIT_MS)),
        );
    }
    for (const node of nodes) await node.untilQuiet(CALM_LIMIT_MS);
    // Of those whose clients have gone nobody says how they ended.
    for (const node of nodes) node.sales.forget();
    await first.clear();
  }
}

/** Sends a sale to a node. Resolves with status 0, and why, when it does not respond. */
export const sellAt = ({ publicUrl }: ForeignNode, { request }: Network, sale: Wire['sale'], limitMs: number) =>
  request({ ...sale, url: new URL(sale.path, publicUrl), signal: AbortSignal.timeout(limitMs) }).catch(
    ({ message }: Error) => ({ status: 0, body: message }),
  );

/** Sends sales to a node until the stock has gone down by a unit. Resolves with that response. Rejects with what it responds instead. */
export async function warmUp({ network, wire }: ForeignTarget, node: ForeignNode, limitMs: number) {
  const deadline = performance.now() + limitMs;
  let last = 'nothing';
  while (performance.now() < deadline) {
    const before = await node.stock();
    const answer = await sellAt(node, network, wire.sale, limitMs);
    if (before !== undefined && (await node.stock()) === before - 1) return answer;
    last = `${answer.status} ${answer.body}`.trim();
    await sleep(100);
  }
  const { method, path } = wire.sale;
  throw new Error(
    `${method} ${path} at ${node.name} took no unit of ${wire.stockKey}: the response was "${last.slice(0, 120)}". ${notSo}${lastLines(node)}`,
  );
}

/** The last lines that it printed, as the end of a sentence. */
export const lastLines = ({ lines }: ForeignNode) =>
  lines.length > 0 ? `\nIts last lines:\n  ${lines.slice(-5).join('\n  ')}` : '';

const notSo = 'Pass --stock if it sells from another key, and --sale if a unit is bought in another way.';
/** A stock in Redis is where a lock would be, too. */
const isLockInRedis = ({ lock, row }: Learned) => row === undefined || lock.keys.length > 0;

const noRedis = because('lock elsewhere');
const unreadable = because('traffic unreadable');
const oneStep = because('one command sells');
const noReplication = 'The embedded Valkey does not support replication. Install redis-server or valkey-server.';
const lacks = {
  'clock server': no('server whose clock can be set'),
  'node clocks': no('clock that can be slowed'),
  'lasting replica': no('replica that its lock waits for'),
  masters: no('masters that vote'),
  'master processes': no('masters that vote'),
  'lock servers': no('known server of its lock'),
  'own mysql': no('MySQL that the lab started'),
  'mysql processes': no('MySQL that the lab started'),
  'zookeeper processes': no('ZooKeeper that the lab started'),
  permits: no('known number of permits'),
  'own lease': no('lease that a sale can set'),
  'user lock': no('lock per user'),
  'nested calls': no('nested call that a drill could trigger'),
  'computing sales': no('sale that can be made to compute'),
  'failing sales': no('sale that can be made to fail'),
  'read heap': no('readable heap'),
  baskets: no('known sale of several skus'),
  looks: no('known request for the stock'),
} satisfies Partial<Record<Need, string>>;
