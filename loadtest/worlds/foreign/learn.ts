// Learns a service from a few undisturbed sales: how it reads and writes the stock, its lock, and its responses.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Command, Exchange } from '../../../stack/proxy/link.ts';
import { masked, maskOf } from './answers.ts';
import { fieldOf, keysOf, kindOf, leaseIn, names, shortened, stockKindsOf, stocksAmong } from './command-kinds.ts';
import { toldOf } from './exchanges.ts';
import { isOfLock, type Learned, PATIENCE_LIMIT_MS } from './learned.ts';
import type { ForeignNode } from './node.ts';
import type { Said } from './said.ts';
import { type ForeignTarget, lastLines, sellAt, WARM_LIMIT_MS, warmUp } from './target.ts';

const UNITS = 100;
const QUIET_LIMIT_MS = 3_000;
const SALE_LIMIT_MS = 10_000;
/** A client that gives up is seen so much later at most, in milliseconds. */
const GIVING_UP_MS = 50;
/** Who is kept waiting has no answer by then, in milliseconds. */
const BUSY_LIMIT_MS = 300;
/** A lease that is shorter than LEASE_MS by less than this part is the one that was asked for. */
const SAME_LEASE = 0.25;
/** How the lessons of the course are called, which most who come from it have in their services. */
const usualPaths = ['GET /inventory/sale', 'POST /inventory/sale'];

/** What was not said of a service is learned from its sales. Rejects with a sentence that says what to do when it can't be. */
export async function learn(target: ForeignTarget, said: Said): Promise<Learned> {
  const { nodes } = target;
  const [first, second] = nodes;
  const redis = first.server();
  const seen = new Map<ForeignNode, Exchange[]>(nodes.map((node) => [node, []]));
  const unwatch = nodes.map((node) => node.link.watchReplies((exchange) => void seen.get(node)?.push(exchange)));
  const commandsOf = (node: ForeignNode) => (seen.get(node) ?? []).map(({ command }) => command);
  try {
    const sale = said.sale ?? (await findSale(target));
    const { running } = said;
    const { stock, field } = running
      ? { stock: running.stock, field: said.field }
      : await findStock(target, sale, said, () => commandsOf(first));
    // So much is needed to sell at all; the rest follows from there.
    let known: Learned = { ...nothingYet, sale, stock, field, row: said.row, read: undefined, write: '' };
    const know = (more: Partial<Learned>) => {
      known = { ...known, ...more };
      target.know(known);
    };
    know({});
    await first.setStock(UNITS);
    for (const node of [first, second, first]) await warmUp(target, node, WARM_LIMIT_MS);
    await untilQuiet(nodes);
    if (!running) know({ idle: (await redis.keys('*')).filter((key) => key !== stock).map(masked) });

    seen.set(first, []);
    const startedAt = performance.now();
    const sold = await warmUp(target, first, SALE_LIMIT_MS);
    const saleMs = performance.now() - startedAt;
    await untilQuiet(nodes);
    const exchanges = seen.get(first) ?? [];
    const commands = exchanges.map(({ command }) => command);
    const isUnreadable = first.isUnreadable();
    const kinds = running ? unseen : (stockKindsOf(commands, known) ?? (isUnreadable ? unseen : undefined));
    if (kinds === undefined) throw new Error(noWrite(stock, said.row ? 'MySQL by MYSQL_URL' : 'Redis by REDIS_URL'));
    const isWrite = ({ command }: Exchange) => kindOf(command) === kinds.write && names(command, known);
    const released = commands.slice(exchanges.findLastIndex(isWrite) + 1).filter((command) => isOfLock(known, command));
    know({
      ...kinds,
      isUnreadable,
      saleMs,
      usesRedis: commands.some((command) => keysOf(command).length > 0),
      oneSale: exchanges.map((exchange) => {
        const { command, answer } = toldOf(exchange, target.wire, known);
        return `${command} → ${answer}`.slice(0, 110);
      }),
      answers: { sold: said.sold ?? maskOf(sold.status, sold.body) },
      lock: { ...known.lock, release: [...new Set(released.map(kindOf))] },
    });

    know(await learnWhileInside(kinds.read !== undefined));
    // Two that nobody disturbs: what is said to a write that another was quicker than is something else.
    const once = exchanges.findLast(isWrite)?.reply.text ?? '';
    await warmUp(target, first, SALE_LIMIT_MS);
    const twice = seen.get(first)?.findLast(isWrite)?.reply.text;
    // The first time a pool may open connections. A lock may be given up long after the answer.
    let [burst, turnMs] = [0, Number.POSITIVE_INFINITY];
    for (const _ of ['cold', 'warm']) {
      burst = seen.get(first)?.length ?? 0;
      const startedAt = performance.now();
      await Promise.all([1, 2, 3].map(() => sell(first)));
      turnMs = Math.min(turnMs, (performance.now() - startedAt) / 3);
    }
    const inBurst = (seen.get(first) ?? []).slice(burst);
    const servers = new Set(inBurst.map(({ command }) => command.isSql === true));
    const asked = Math.max(0, ...commands.map((command) => (isOfLock(known, command) ? (leaseIn(command) ?? 0) : 0)));
    const leaseMs = said.leaseMs ?? Math.max(asked, known.lock.leaseMs);
    know({
      saleMs: Math.max(saleMs, turnMs),
      isShared: new Set(inBurst.map(({ command }) => command.connection)).size === servers.size,
      written: once === twice ? { same: once } : 'a number',
      lock: { ...known.lock, leaseMs },
      obeysLease: Math.abs(leaseMs - target.leaseMs) < SAME_LEASE * target.leaseMs,
    });

    await first.setStock(0);
    const empty = await sell(first);
    const soldOut = empty && maskOf(empty.status, empty.body);
    if (soldOut === known.answers.sold) throw new Error(sameAnswer(soldOut));
    know({ answers: { ...known.answers, soldOut: said.soldOut ?? soldOut } });
    return known;

    /** One is held inside, and another comes to the other copy: what is the lock, who is kept waiting, and how long does its client wait? */
    async function learnWhileInside(isPossible: boolean): Promise<Partial<Learned>> {
      if (!isPossible) return {};
      const hold = first.link.holdNextReply(target.wire.isStockRead);
      let isAnswered = false;
      const inside = sell(first).finally(() => {
        isAnswered = true;
      });
      const isInside = await Promise.race([hold.arrived.then(() => true), inside.then(() => false)]);
      if (!isInside) {
        hold.letGo();
        return {};
      }
      const heldAt = performance.now();
      const patience = waitsFor(heldAt, () => isAnswered || hold.isGone());
      const keys = (await target.wire.lockKeysIn(redis, '')).toSorted((a, b) => a.length - b.length);
      const ttls = await Promise.all(keys.map((key) => redis.pttl(key)));
      const leases = ttls
        .filter((ttl) => ttl !== -2)
        .map((ttl) => (ttl < 0 ? Number.POSITIVE_INFINITY : 10 * Math.ceil(ttl / 10)));
      const since = seen.get(first)?.length ?? 0;
      const other = sell(second);
      const refused = await Promise.race([other, sleep(BUSY_LIMIT_MS, undefined)]);
      const patienceMs = await patience;
      // One that has given up may release its lock at once.
      const isRenewal = ({ command, sentAt }: Exchange) =>
        isOfLock(known, command) && sentAt < heldAt + patienceMs - GIVING_UP_MS;
      const renewals = (seen.get(first) ?? []).slice(since).filter(isRenewal);
      const renewing = renewals.map(({ command }) => kindOf(command));
      hold.letGo();
      await Promise.all([inside, other]);
      await untilQuiet(nodes);
      await first.clear();
      const busy = refused && maskOf(refused.status, refused.body);
      return {
        patienceMs,
        lock: {
          keys,
          leaseMs: Math.max(0, ...leases),
          isRenewed: renewals.length > 0,
          // A watchdog may renew once more after the write.
          release: known.lock.release.filter((kind) => !renewing.includes(kind)),
        },
        answers: { ...known.answers, ...(busy !== known.answers.sold && { busy }) },
      };
    }

    async function sell(node: ForeignNode) {
      const answer = await sellAt(node, target.network, sale, SALE_LIMIT_MS);
      return answer.status === 0 ? undefined : answer;
    }
  } catch (error) {
    const isOfCluster = ({ command, reply }: Exchange) => command.name === 'CLUSTER' && reply.text.startsWith('error');
    if (first.link.hasMetTls()) throw new Error(noTls);
    throw [...seen.values()].flat().some(isOfCluster) ? new Error(noCluster) : error;
  } finally {
    for (const end of unwatch) end();
  }
}

const nothingYet = {
  answers: { sold: '' },
  lock: { keys: [], leaseMs: 0, isRenewed: false, release: [] },
  obeysLease: false,
  isShared: false,
  patienceMs: Number.POSITIVE_INFINITY,
  saleMs: 0,
  written: { same: '' },
  isUnreadable: false,
  usesRedis: true,
  idle: [],
  oneSale: [],
} satisfies Omit<Learned, 'sale' | 'stock' | 'read' | 'write'>;

/**
 * How long a client has certainly waited since then, in milliseconds: on a busy machine it is seen much later that it has gone. Infinity
 * when it has not.
 */
async function waitsFor(since: number, hasGone: () => boolean): Promise<number> {
  let waitedMs = 0;
  while (waitedMs < PATIENCE_LIMIT_MS) {
    const nowMs = performance.now() - since;
    await sleep(10);
    if (hasGone()) return waitedMs;
    waitedMs = nowMs;
  }
  return Number.POSITIVE_INFINITY;
}

async function untilQuiet(nodes: ForeignNode[]) {
  for (const node of nodes) await node.untilQuiet(QUIET_LIMIT_MS);
}

/** How a unit is asked for, among the usual ways. */
async function findSale({ nodes: [first], network }: ForeignTarget): Promise<Learned['sale']> {
  const answers: string[] = [];
  for (const way of usualPaths) {
    const [method, path = '/'] = way.split(' ') as ['GET' | 'POST', string];
    const { status } = await sellAt(first, network, { method, path }, SALE_LIMIT_MS);
    if (![0, 404, 405, 501].includes(status)) return { method, path };
    answers.push(`${way} gets ${status === 0 ? 'no response' : status}`);
  }
  throw new Error(
    `Could not find out how to buy a unit: ${answers.join(', ')}. Pass it, such as --sale "POST /buy".${lastLines(first)}`,
  );
}

/** Which key is the stock, and which field of it, by what a sale reads that finds none. */
async function findStock(
  { nodes: [first], network }: ForeignTarget,
  sale: Learned['sale'],
  said: Said,
  commands: () => Command[],
): Promise<{ stock: string; field?: string | undefined }> {
  const { stock: key, field, row } = said;
  if (row !== undefined) return { stock: row.label };
  if (key !== undefined && field !== undefined) return { stock: key, field };
  const { status, body } = await sellAt(first, network, sale, SALE_LIMIT_MS);
  await first.untilQuiet(QUIET_LIMIT_MS);
  const found = key === undefined ? stocksAmong(commands()) : [key];
  const [only] = found;
  if (only !== undefined && found.length === 1) return { stock: only, field: field ?? fieldOf(commands(), only) };
  const answer = shortened(`${status} ${body}`);
  if (commands().length === 0)
    throw new Error(
      `A sale sent nothing to Redis, and got the response "${answer}". Let the service keep its stock in the Redis at REDIS_URL.`,
    );
  const what =
    found.length === 0 ? `it read none in Redis, and got the response "${answer}"` : `it read ${found.join(', ')}`;
  throw new Error(
    `Could not find out which key is the stock: in a sale ${what}. Pass it, such as --stock ${only ?? 'stock:42'}.`,
  );
}

const noTls = 'It uses TLS for Redis, although REDIS_URL starts with redis://. Let it connect without TLS.';
const noCluster =
  'It uses a Redis Cluster client, which cannot be judged. Let it connect to REDIS_URL as to a single Redis.';
/** Nothing is known of how the stock is read and written where that can't be seen. */
const unseen = { read: undefined, write: '' };

const noWrite = (stock: string, server: string) =>
  `A unit of ${stock} is gone, but no command in the traffic wrote it. Does the service reach ${server}, and only by that?`;
const sameAnswer = (mask: string) =>
  `An empty shop gets the same response as a sale: "${mask}". The two cannot be told apart. Give them different texts or statuses.`;
