// Sentences about a stock in MySQL and in Redis: sales that are held between the two writes, readers that fill Redis, and both stocks.

import { lockKey, stockKey } from '../../services/inventory/servers/store.ts';
import type { Command } from '../../stack/proxy/link.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { TargetNode } from '../harness/target.ts';
import { seen } from '../narration/evidence.ts';
import { because } from '../narration/reasons.ts';
import { told } from '../narration/steps.ts';
import type { Finding } from '../sentences/sentence.ts';
import { wayAndLock } from '../staircase/stores.ts';
import { type ClientAnswer, demand, needing, type OrderPlaying, type StoreSale, step } from './playing.ts';
import { SKU } from './shop.ts';

/** How many leases a sale waits for its lock, and how long at most, in milliseconds. */
const WAIT_LEASES = 3;
const WAIT_LIMIT_MS = 10_000;
const key = stockKey(SKU);

export const steps = [
  needing('links')('<count> unit[s] [is][are] in both stores', async (playing, { count }) => {
    const { first, nodes, row, leaseMs } = playing;
    const timing = { leaseMs, waitTimeoutMs: Math.min(WAIT_LEASES * leaseMs, WAIT_LIMIT_MS) };
    for (const node of nodes) await node.setLock(wayAndLock(row).lock, timing);
    await first.setStock(count, SKU);
    playing.units = count;
    for (const { link } of nodes) {
      const isDelete = ({ name, args }: Command) => name === 'DEL' && args.includes(key);
      const end = link?.watch((command) => (playing.deletes += isDelete(command) ? 1 : 0));
      playing.undoLater(() => end?.());
    }
    return told('units in both stores', { units: count });
  }),
  step('<sale> sells at <node>, and is held between MySQL and Redis', async (playing, { sale, node }) => {
    const held = holdChange(playing, node);
    const sells = sell(playing, sale, node);
    await arrives(playing, held, sells.answered, `${sale} never tried to write to Redis.`);
    sells.held = held;
    const mysql = await inMysql(playing);
    if (mysql !== playing.units - 1)
      throw new NotStagedError(`${sale} had not written to MySQL: its stock is ${mysql}.`);
    return told('held between the stores', { sale, node: node.name, mysql, redis: Number(await inRedis(playing)) });
  }),
  step('<sale> sells at <node>, or waits', async (playing, { sale, node }) => {
    let tries = 0;
    const lock = lockKey(SKU, wayAndLock(playing.row).lock);
    const end = node.link?.watch(({ args }) => (tries += args.includes(lock) ? 1 : 0));
    playing.undoLater(() => end?.());
    const sells = sell(playing, sale, node);
    // Whoever is let in at once tries once, and does not wait any more when it releases.
    const hasCome = async () => sells.answer !== undefined || (tries > 1 && (await node.state()).waiting > 0);
    await playing.until(`${sale} neither got a response nor waited for the lock.`, hasCome);
    return sells.answer ? toldOf(sale, sells.answer) : told('waited', { sale, node: node.name });
  }),
  step('<sale> sells at <node>', async (playing, { sale, node }) =>
    toldOf(sale, await sell(playing, sale, node).answered),
  ),
  step('<sale> resumes', async (playing, { sale }) => {
    const { held, answered } = saleOf(playing, sale);
    if (!(await held?.letGo())) throw new NotStagedError(`${sale} had lost its connection to Redis.`);
    await answered;
    return told('resumed', { sale });
  }),
  step('all sales have ended', async (playing) => {
    for (const { answered } of playing.sales.values()) await answered;
    return told('all ended', { left: Number(await inMysql(playing)) });
  }),
  step('Redis loses the key', async ({ redis }) => {
    await redis.del(key);
    return told('stock key expired', {});
  }),
  step('Redis has an old stock, <count>', async (playing, { count }) => {
    await playing.redis.set(key, count);
    return told('old stock in Redis', { redis: count, mysql: Number(await inMysql(playing)) });
  }),
  step('a reader at <node> misses the key, and is held before it writes to Redis', async (playing, { node }) => {
    const held = holdChange(playing, node);
    const looks = fetch(new URL(`/inventory?sku=${SKU}`, node.publicUrl), { signal: playing.stopping });
    await arrives(playing, held, looks, `The reader on ${node.name} never tried to write to Redis.`);
    playing.fill = { held, looks };
    return told('reader held', { node: node.name, mysql: Number(await inMysql(playing)) });
  }),
  step('the reader resumes', async (playing) => {
    const { fill } = playing;
    if (!(await fill?.held.letGo())) throw new NotStagedError('The reader had lost its connection to Redis.');
    await fill?.looks;
    if (fill) fill.deletesBefore = playing.deletes;
    return told('reader filled', { redis: playing.units });
  }),
  step('<sale> has sold, and has deleted the key for the last time', async (playing, { sale }) => {
    const { status = 'nothing' } = await saleOf(playing, sale).answered;
    if (status !== 200) throw new NotStagedError(`${sale} got the response ${status} instead of a sale.`);
    const last = wayAndLock(playing.row).way === 'double-delete' ? 2 : 1;
    await playing.until(`${sale} did not delete the key.`, async () => playing.deletes >= last);
    if (last > 1 && playing.fill?.deletesBefore === last)
      throw new NotStagedError('The reader wrote to Redis after the last delete.');
    return told('deleted for the last time', { sale, deletes: last });
  }),
  needing('node processes')('<node> is killed (SIGKILL) before it deletes the key again', async (playing, { node }) => {
    await playing.kill(node);
    if (playing.deletes !== 1) throw new NotStagedError(`${node.name} had deleted the key ${playing.deletes} times.`);
    return told('killed before its delete', { node: node.name });
  }),
];

export const demands = [
  demand('no more is sold than was in stock, and both stores agree', async (playing): Promise<Finding> => {
    const { sales, units } = playing;
    const taken = [...sales].filter(([, { answer, held }]) => answer?.status === 200 || (held && !answer?.status));
    const [mysql, redis] = [Number(await inMysql(playing)), await inRedis(playing)];
    const sold = taken.length;
    const figures = { sold, units, mysql, redis: redis ?? mysql };
    const wrong = [
      ...(sold > units ? [because('units sold of', { sold, units })] : []),
      ...(redis !== undefined && redis !== mysql ? [because('stores differ', { mysql, redis })] : []),
    ];
    if (wrong.length === 0) mustBeDecided(sales);
    const took = taken.map(([sale, { held }]) => seen('sale took a unit', { sale, isHeld: held !== undefined }));
    const evidence = wrong.length === 0 ? [] : [...took, seen('stores have', { mysql, redis })];
    return { wrong, right: because('units sold of', { sold, units }), figures, evidence };
  }),
  demand('the buyer gets the unit', async (playing): Promise<Finding> => {
    mustBeDecided(playing.sales);
    const mysql = Number(await inMysql(playing));
    const sold = [...playing.sales.values()].filter(({ answer }) => answer?.status === 200).length;
    const figures = { sold, units: playing.units };
    if (sold > 0) return { right: because('buyer got a unit', {}), figures };
    return { wrong: because('buyer turned away', { mysql }), figures, evidence: [seen('nobody bought', { mysql })] };
  }),
];

/** Whether a sale took a unit, by its response, or by its write in MySQL if its node died. */
function mustBeDecided(sales: OrderPlaying['sales']) {
  for (const [sale, { answer = {}, held }] of sales) {
    const isDecided = [200, 404, 409].includes(answer.status ?? 0);
    if (!isDecided && !held)
      throw new NotStagedError(
        `${sale} got ${answer.status === undefined ? 'no response' : `the response ${answer.status}`}.`,
      );
  }
}

function sell({ sales, stopping }: OrderPlaying, sale: string, { publicUrl }: TargetNode): StoreSale {
  const url = new URL(`/inventory/sale?sku=${SKU}`, publicUrl);
  const answered = fetch(url, { method: 'POST', signal: stopping })
    .then(async (answer) => ({ status: answer.status, ...((await answer.json()) as ClientAnswer) }))
    .catch((): ClientAnswer => ({}));
  const sells: StoreSale = { answered };
  void answered.then((answer) => (sells.answer = answer));
  sales.set(sale, sells);
  return sells;
}

function saleOf({ sales }: OrderPlaying, sale: string): StoreSale {
  const sells = sales.get(sale);
  if (sells === undefined) throw new Error(`There is no sale ${sale}.`);
  return sells;
}

/** Holds the next command of a node that writes or deletes the key of the stock. */
function holdChange({ undoLater }: OrderPlaying, { name, link }: TargetNode) {
  const held = link?.holdNext(({ name, args }) => !['GET', 'MGET'].includes(name) && args.includes(key));
  if (held === undefined) throw new NotStagedError(`There is no fault proxy between ${name} and Redis.`);
  undoLater(() => held.drop());
  return held;
}

/** Resolves when the command has arrived. Throws NotStagedError when its request ends first. */
async function arrives(
  { until }: OrderPlaying,
  held: NonNullable<StoreSale['held']>,
  request: Promise<unknown>,
  otherwise: string,
) {
  let isThere: boolean | undefined;
  held.arrived.then(() => (isThere = true)).catch(() => {});
  const hasEnded = () => (isThere ??= false);
  request.then(hasEnded, hasEnded);
  await until(otherwise, async () => isThere !== undefined);
  if (!isThere) throw new NotStagedError(otherwise);
}

function toldOf(sale: string, { status, code, remaining = 0 }: ClientAnswer) {
  if (status === 200) return told('sold', { sale, before: remaining + 1, after: remaining });
  return told('was refused', { sale, code: code ?? `${status ?? 'nothing'}` });
}

async function inMysql({ query }: OrderPlaying): Promise<number | undefined> {
  const [row] = await query<{ stock: number }>('SELECT stock FROM tb_stock WHERE sku = ?', [SKU]);
  return row && Number(row.stock);
}

async function inRedis({ redis }: OrderPlaying): Promise<number | undefined> {
  const stock = await redis.get(key);
  return stock === null ? undefined : Number(stock);
}
