/**
 * Sells, pays, refunds and cleans up under load while a random node is killed every second, and asks where every unit is:
 * `npx tsx test/orders/random-kills.ts [seconds] [lock]`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBackends } from '../../scripts/backends.ts';
import { nodeArgs, projectDir } from '../../scripts/parts.ts';
import { startStack } from '../../scripts/stack.ts';

const STOCK = 1_000_000;
const BUYERS = 20;
/** How long a buyer who was refused waits before the next try, in milliseconds. */
const BEFORE_NEXT_TRY_MS = 20;
const KILL_EVERY_MS = 1_000;
/** Short enough that the clean-up has work, in milliseconds. */
const ORDER_TTL_MS = 2_000;
/** How long the clean-up may take when nobody buys any more, in milliseconds. */
const CLEAN_UP_LIMIT_MS = 30_000;

export interface RandomKills {
  kills: number;
  /** How often each answer was given: `sold`, or the code of the problem, with a `?` when it is not definite. */
  answers: Record<string, number>;
  /** `npm run reconcile` after the load, once the clean-up has no work: its exit code and what it printed. */
  exitCode: number;
  accounts: string;
}

export async function killRandomNodes({ seconds, lock }: { seconds: number; lock: string }): Promise<RandomKills> {
  const backends = await startBackends(['mysql']);
  const corner = await backends.openCorner();
  const stack = await startStack({
    env: {
      ...corner,
      LOCK_VERSION: lock,
      // The lock of a dead holder is free again soon.
      LEASE_MS: '500',
      ORDERS: 'on',
      ORDER_TTL_MS: String(ORDER_TTL_MS),
      ORDER_CLEANUP_CRON: '* * * * * ?',
      LOG_LEVEL: 'silent',
    },
  });
  const answers: Record<string, number> = {};
  let isOver = false;

  async function post(path: string): Promise<Record<string, unknown>> {
    const response = await fetch(`${stack.nginx.url}${path}`, { method: 'POST' });
    return (await response.json()) as Record<string, unknown>;
  }

  /** Of three orders one is paid, one is paid and refunded, and one is left to the clean-up. */
  async function buy(buyer: number) {
    for (let order = buyer; !isOver; order += 1) {
      const { outcome, code, definite, orderId } = await post('/inventory/sale');
      const answer = outcome === 'sold' ? 'sold' : `${code}${definite === false ? '?' : ''}`;
      answers[answer] = (answers[answer] ?? 0) + 1;
      if (outcome !== 'sold') await sleep(BEFORE_NEXT_TRY_MS);
      else if (order % 3 < 2) {
        await post(`/orders/${orderId}/pay`);
        if (order % 3 === 1) await post(`/orders/${orderId}/refund`);
      }
    }
  }

  async function reconcile(): Promise<{ exitCode: number; accounts: string }> {
    const child = spawn(process.execPath, nodeArgs('scripts/reconcile.ts'), {
      cwd: projectDir,
      env: { PATH: process.env['PATH'], ...corner, REDIS_URL: stack.redis.url },
    });
    const [stdout, stderr, [exitCode]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { exitCode, accounts: stdout + stderr };
  }

  try {
    const [first] = stack.nodes;
    await fetch(`${first?.labUrl}/stock`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ stock: STOCK }),
    });
    const buyers = Promise.all(Array.from({ length: BUYERS }, (_, buyer) => buy(buyer)));
    const until = performance.now() + seconds * 1_000;
    let kills = 0;
    for (let at = performance.now() + KILL_EVERY_MS; at < until; at += KILL_EVERY_MS) {
      await sleep(at - performance.now());
      const victim = stack.nodes[Math.floor(Math.random() * stack.nodes.length)];
      await victim?.kill();
      kills += 1;
      await victim?.start();
    }
    isOver = true;
    await buyers;
    // It refuses while the clean-up has work.
    let last = await reconcile();
    for (const limit = performance.now() + CLEAN_UP_LIMIT_MS; last.exitCode === 2 && performance.now() < limit; ) {
      last = await reconcile();
    }
    return { kills, answers, ...last };
  } finally {
    isOver = true;
    await stack.stop();
    await backends.stop();
  }
}

if (process.argv[1]?.endsWith('random-kills.ts')) {
  const [seconds = '120', lock = '8-auto-renew'] = process.argv.slice(2);
  const { kills, answers, exitCode, accounts } = await killRandomNodes({ seconds: Number(seconds), lock });
  console.log(`${kills} kills in ${seconds} s under ${lock}.`);
  console.table(answers);
  console.log(accounts);
  process.exitCode = exitCode;
}
