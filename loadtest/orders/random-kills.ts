// Sells, pays, refunds and cleans up under load while a random node is killed every second, then accounts for every unit.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, RowDataPacket } from 'mysql2/promise';
import { backendOf } from '../../locks/index.ts';
import { balance, type Holdings, readAccounts } from '../../services/inventory/orders/accounts.ts';
import { connectOrders } from '../../services/inventory/orders/order-store.ts';
import { connectStore, type Store } from '../../services/inventory/servers/store.ts';
import { startBackends } from '../../stack/backends.ts';
import { bundledArgs } from '../../stack/bundle.ts';
import { projectDir } from '../../stack/parts.ts';
import type { Target } from '../harness/target.ts';
import { sum } from '../narration/numbers.ts';
import { because, type Reason } from '../narration/reasons.ts';
import { type StepSentence, told } from '../narration/steps.ts';
import { usualSettings } from '../staircase/usual-settings.ts';
import { openLocalTarget, whyNotOwnMysql } from '../worlds/real/target.ts';

const SKU = '001';
const STOCK = 1_000_000;
const BUYERS = 20;
/** How long a refused buyer waits before the next try, in milliseconds. */
const BEFORE_NEXT_TRY_MS = 20;
const KILL_EVERY_MS = 1_000;
/** How long the clean-up may make no progress after the last purchase, in milliseconds. */
const CLEAN_UP_LIMIT_MS = 30_000;
/** After how many kills the run reports its progress. */
const TELL_EVERY = 10;

const settings = {
  ...usualSettings,
  // The lock of a dead holder is free again soon.
  LEASE_MS: '500',
  // Short enough that the clean-up has work.
  ORDER_TTL_MS: '2000',
  ORDER_CLEANUP_CRON: '* * * * * ?',
  LOG_LEVEL: 'silent',
};

/** Counts of the responses: problems by code, and those that are not definite separately. */
export interface Answers {
  sold: number;
  refused: Record<string, number>;
  inDoubt: Record<string, number>;
}

export interface RandomKills {
  kills: number;
  answers: Answers;
  /** `npm run reconcile` after the load, once the clean-up has no work: its exit code and what it printed. */
  exitCode: number;
  accounts: string;
  holdings: Holdings;
  /** What the answers and the accounts do not agree on, a sentence each. */
  faults: Reason[];
}

export interface RandomKillsOptions {
  seconds: number;
  lock: string;
  /** Ends the run where it stands: it rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called with a sentence now and then: how far the run is. */
  onProgress?: (sentence: StepSentence) => void;
}

/** Rejects when it could not be run to its end. Leaves nothing behind. */
export async function killRandomNodes({ seconds, lock, signal, onProgress }: RandomKillsOptions): Promise<RandomKills> {
  const whyNot = whyNotOwnMysql();
  if (whyNot !== undefined) throw new Error(whyNot);
  const backends = await startBackends(['mysql', backendOf(lock)]);
  try {
    const [lack] = Object.values(backends.lacks).filter((sentence) => sentence !== undefined);
    if (lack !== undefined) throw new Error(lack);
    const target = await openLocalTarget({ env: { ...settings, LOCK_VERSION: lock } }, backends);
    const servers = { REDIS_URL: target.stack?.redis.url ?? '', MYSQL_URL: target.mysqlUrl ?? '' };
    const mysql = connectOrders(servers.MYSQL_URL, 1);
    const store = connectStore(servers.REDIS_URL);
    try {
      const over = new AbortController();
      void Promise.race([target.partDied, backends.partDied]).then((died) => over.abort(died));
      const ending = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
      return await runOn(target, { servers, mysql, store }, seconds, ending, onProgress);
    } finally {
      store.redis.disconnect();
      await mysql.end();
      await target.close();
    }
  } finally {
    await backends.stop();
  }
}

async function runOn(
  { url, nodes }: Target,
  { servers, mysql, store }: { servers: NodeJS.ProcessEnv; mysql: Pool; store: Store },
  seconds: number,
  signal: AbortSignal,
  onProgress: (sentence: StepSentence) => void = () => {},
) {
  await nodes[0]?.setStock(STOCK, SKU);
  const load = startLoad(url);
  let kills = 0;
  const startedAt = performance.now();
  try {
    const until = startedAt + seconds * 1_000;
    for (let at = startedAt + KILL_EVERY_MS; at < until; at += KILL_EVERY_MS) {
      await sleep(at - performance.now(), undefined, { signal }).catch(() => {});
      signal.throwIfAborted();
      const victim = nodes[Math.floor(Math.random() * nodes.length)];
      await victim?.process?.kill();
      kills += 1;
      await victim?.process?.start();
      if (kills % TELL_EVERY === 0) onProgress(told('kills so far', { kills, sold: load.answers.sold }));
    }
  } finally {
    await load.end();
  }
  // It refuses while the clean-up has work, and is asked again for as long as that becomes less.
  let last = await reconcile(servers);
  let least = Number.POSITIVE_INFINITY;
  let until = Number.POSITIVE_INFINITY;
  while (last.exitCode === 2 && performance.now() < until) {
    signal.throwIfAborted();
    const backlog = await backlogOf(mysql);
    if (backlog < least) {
      onProgress(told('clean-up has work', { orders: backlog }));
      least = backlog;
      until = performance.now() + CLEAN_UP_LIMIT_MS;
    }
    last = await reconcile(servers);
  }
  const holdings = (await readAccounts(mysql, store)).holdings.find(({ sku }) => sku === SKU);
  if (holdings === undefined) throw new Error(`There is no account for sku ${SKU}.`);
  return { kills, answers: load.answers, ...last, holdings, faults: faultsOf(load.answers, holdings) };
}

/** How many orders the clean-up has not come to: unpaid, whether or not they are due yet, and closed without their units back. */
async function backlogOf(mysql: Pool): Promise<number> {
  const sql = `SELECT COUNT(*) AS backlog FROM tb_order
    WHERE status = 'UNPAID' OR (status = 'CLOSED' AND restored_at IS NULL)`;
  const [[row]] = await mysql.query<RowDataPacket[]>(sql);
  return Number(row?.['backlog']);
}

/** Buyers who buy in a loop until the end. */
function startLoad(url: string) {
  const answers: Answers = { sold: 0, refused: {}, inDoubt: {} };
  let isOver = false;

  async function post(path: string): Promise<Record<string, unknown>> {
    try {
      const response = await fetch(`${url}${path}`, { method: 'POST' });
      return (await response.json()) as Record<string, unknown>;
    } catch {
      return { code: 'NO_ANSWER', definite: false };
    }
  }

  /** Of every three orders one is paid, one is paid and refunded, and one is left to the clean-up. */
  async function buy(buyer: number) {
    for (let order = buyer; !isOver; order += 1) {
      const { outcome, code, definite, orderId } = await post('/inventory/sale');
      if (outcome !== 'sold') {
        const counts = definite === false ? answers.inDoubt : answers.refused;
        counts[String(code)] = (counts[String(code)] ?? 0) + 1;
        await sleep(BEFORE_NEXT_TRY_MS);
        continue;
      }
      answers.sold += 1;
      if (order % 3 < 2) {
        await post(`/orders/${orderId}/pay`);
        if (order % 3 === 1) await post(`/orders/${orderId}/refund`);
      }
    }
  }

  const buyers = Array.from({ length: BUYERS }, (_, buyer) => buy(buyer));
  return {
    answers,
    /** Resolves when every buyer has the response to its last request. */
    async end() {
      isOver = true;
      await Promise.all(buyers);
    },
  };
}

/**
 * What can't be true of these answers: a sale that was answered has its order, and only one that nobody could answer may have
 * an order or a unit in doubt besides. `npm run reconcile` alone takes each intent for a reason why a unit may be missing.
 */
export function faultsOf({ sold, inDoubt: unclear }: Answers, one: Holdings): Reason[] {
  const unanswered = sum(Object.values(unclear));
  const orders = one.unpaid + one.paid + one.refunded + one.restored + one.owed + one.unrestored;
  const { inDoubt = 0, unexplained = 0 } = balance(one) ?? {};
  // Closed orders in doubt are orders already.
  const intents = Math.max(0, inDoubt - one.owed - one.unrestored);
  return [
    ...(unexplained !== 0 ? [because('units unexplained', { units: Math.abs(unexplained) })] : []),
    ...(orders < sold ? [because('orders missing', { sold, orders })] : []),
    ...(orders + intents > sold + unanswered
      ? [because('more orders than sold', { orders, inDoubt: intents, sold, unanswered })]
      : []),
  ];
}

async function reconcile(servers: NodeJS.ProcessEnv): Promise<{ exitCode: number; accounts: string }> {
  const child = spawn(process.execPath, await bundledArgs('scripts/reconcile.ts'), {
    cwd: projectDir,
    env: { PATH: process.env['PATH'], ...servers },
  });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { exitCode, accounts: stdout + stderr };
}
