// Sentences about the clean-up: due orders, runs that can be held, and runs that start by themselves.

import { randomUUID } from 'node:crypto';
import { stockOf } from '../../locks/index.ts';
import type { TickResult, TickScript } from '../../services/inventory/orders/contract.ts';
import { jobLockKey, lockOfGuard } from '../../services/inventory/orders/jobs/guards.ts';
import { keysOf, restoredKey, stockKey } from '../../services/inventory/servers/store.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import type { TargetNode } from '../harness/target.ts';
import { seen } from '../narration/evidence.ts';
import { sum } from '../narration/numbers.ts';
import { because } from '../narration/reasons.ts';
import { narrated, type StepSentence, told } from '../narration/steps.ts';
import type { Finding } from '../sentences/sentence.ts';
import { PERIOD_MS, schedules } from '../staircase/schedules.ts';
import { type DueOrder, demand, type OrderPlaying, step, type Tick } from './playing.ts';
import { type Shop, STEP_LIMIT_MS } from './shop.ts';

/** How long to wait after a skipped run, in milliseconds. */
const TRY_AGAIN_MS = 50;
/** From how much delay on a run counts as having waited for another one, in milliseconds. */
const LATE_MS = PERIOD_MS / 2;

type Did = TickScript['after'];
/** Where a run is held: when it has done this to so many orders. */
interface Halt {
  did: Did;
  orders: number;
}

export const steps = [
  step('<count> order[s] [is][are] due', async (playing, { count }) => {
    await useGuard(playing);
    await makeDue(playing, count);
    return told('orders were due', { orders: count });
  }),
  step(
    'run <run> starts at <node>, and is held when it has <did> <count><orElse>',
    async (playing, { run: tick, node, did, count, orElse }) => {
      const halt = { did: did as Did, orders: count };
      const begun = await holdTick(playing, tick, node, halt);
      if (!begun.ended) return told('tick held', { tick, node: node.name, ...halt });
      const ended = endOf(node, begun.ended, tick);
      if (orElse === '') throw new NotStagedError(`The run on ${node.name} was not held. ${narrated(ended)}`);
      // One that has run to its end meanwhile has met nobody.
      await mustHaveDone(playing, begun, halt);
      return ended;
    },
  ),
  step('the job runs at <node>, or is skipped', (playing, { node }) => tickFor(playing, node, 0)),
  step('the job runs at <node> until a run is not skipped, for <limit> at most', async (playing, { node, limit }) => {
    await playing.say(told('ticks came', { node: node.name }));
    const ended = await tickFor(playing, node, limit);
    return playing.isSkipped ? told('every tick skipped', { node: node.name, ms: limit }) : ended;
  }),
  step('run <run> resumes', (playing, { run }) => goOn(playing, run)),
  step('run <run> resumes, and finishes', async (playing, { run }) => {
    const ended = await goOn(playing, run);
    const { result, node } = tickOf(playing, run);
    if ((await result).outcome !== 'ran')
      throw new NotStagedError(`The run on ${node.name} failed. ${narrated(ended)}`);
    return ended;
  }),
  step('all runs resume, and each waits for the order or finishes', async ({ ticks, until, waitingStatements }) => {
    const all = [...ticks.values()];
    for (const tick of all) {
      tick.isHeld = false;
      await tick.node.resume();
    }
    const waiting = () => waitingStatements('%tb_order%');
    const haveCome = async () => (await waiting()) + all.filter(({ ended }) => ended).length === all.length;
    await until('The runs did not reach the order.', haveCome);
    return told('ticks kept waiting', { ticks: await waiting() });
  }),
  step('<node> runs the job by itself, once a second', async (playing, { node }) => {
    playing.undoLater(() => node.setSchedule({}));
    await node.setSchedule({ cron: '* * * * * ?' });
    return told('ticks on time', { node: node.name, ms: PERIOD_MS });
  }),
  step('a report at <node> computes for <time>', async ({ row }, { node, time }) => {
    const way = row === 'busy' ? 'busy' : 'in-slices';
    await node.report({ way, ms: time });
    return told(way === 'busy' ? 'report was busy' : 'report in slices', { node: node.name, ms: time });
  }),
  step(
    '<node> runs the job by itself, once a second, and its first run takes <time>',
    async (playing, { node, time }) => {
      playing.forget(() => node.setGuard('conditional'));
      playing.undoLater(() => node.setSchedule({}));
      await node.setGuard('none');
      await node.scriptTick({ after: 'read', orders: 1 });
      await node.setSchedule(schedules[playing.row] ?? {});
      const isHeld = async () => (await node.ticks()).held === 1;
      await playing.until(`No run on ${node.name} started by itself and was held.`, isHeld);
      await playing.say(told('ticks by itself', { node: node.name, ms: PERIOD_MS }));
      // From when it began: on a busy machine it is seen later, and one more would be due meanwhile.
      const [slow = { beganAt: Date.now() }] = (await node.ticks()).scheduled;
      await playing.rest(Math.max(0, slow.beganAt + time - Date.now()));
      if (!(await isHeld())) throw new NotStagedError(`The first run on ${node.name} did not take that long.`);
      return told('first tick took', { node: node.name, ms: time });
    },
  ),
  step('the first run at <node> resumes', async (_course, { node }) => {
    await node.resume();
    return told('first tick resumed', { node: node.name });
  }),
];

export const demands = [
  /** Checks MySQL and the stock. */
  demand('each order is closed, and its unit is restored once', async (playing) => {
    const { due, isSkipped } = playing;
    const [times, open] = [await timesRestored(playing), due.length - (await closed(playing))];
    const restored = sum(times);
    const wrong = due.flatMap((order, i) => (times[i] === 1 ? [] : [{ ...order, times: times[i] ?? 0 }]));
    const says = because('units came back', { restored, due: due.length, open });
    return {
      ...(wrong.length > 0 || open > 0 ? { wrong: says } : { right: says }),
      figures: { due: due.length, restored, closed: due.length - open },
      evidence: wrong.map(({ id: order, times }) => seen('unit came back', { order, times })),
      ...(isSkipped ? { ending: 'if it never ends' } : restored < due.length && { ending: 'if too few' }),
    };
  }),
  demand('no other run at <node> has started meanwhile', async (_course, _outcome, { node }) => {
    const [held, ...others] = (await node.ticks()).scheduled;
    return {
      wrong: others.length > 0 && because('ticks overlapped', { node: node.name, ticks: others.length }),
      right: because('no tick overlapped', { node: node.name }),
      figures: { meanwhile: others.length },
      evidence: others.map(({ beganAt }, at) =>
        seen('tick began meanwhile', { tick: at + 2, ms: beganAt - (held?.beganAt ?? 0) }),
      ),
    };
  }),
  demand('no overdue runs at <node> have followed at once', (_course, _outcome, { node }) =>
    judgeLate(node, 1, 'ticks piled up', 'no ticks piled up'),
  ),
  demand('no run at <node> has started late', (_course, _outcome, { node }) =>
    judgeLate(node, 0, 'ticks came late', 'no tick came late'),
  ),
];

/** Demands that at most so many runs of a node started so late that they have waited. */
async function judgeLate(
  node: TargetNode,
  most: number,
  wrong: 'ticks piled up' | 'ticks came late',
  right: 'no ticks piled up' | 'no tick came late',
): Promise<Finding> {
  const { scheduled } = await node.ticks();
  if (scheduled.length === 0) throw new NotStagedError(`No run on ${node.name} started by itself.`);
  const late = scheduled.filter(({ dueAt, beganAt }) => beganAt - dueAt >= LATE_MS);
  return {
    wrong: late.length > most && because(wrong, { node: node.name, ticks: late.length }),
    right: because(right, { node: node.name }),
    figures: { late: late.length },
    evidence: late.map(({ dueAt, beganAt }, at) => seen('tick began late', { tick: at + 1, ms: beganAt - dueAt })),
  };
}

/** Both nodes use the protection of the row. Removes what an earlier drill left: a lock, or a script that no run has used. */
async function useGuard(playing: OrderPlaying) {
  const { nodes, row, leaseMs, redis } = playing;
  playing.forget(async () => {
    // Some locks never end when their holder is dead.
    await redis.del(...keysOf(jobLockKey(lockOfGuard(row))));
    for (const node of nodes) await node.setGuard('conditional');
  });
  for (const node of nodes) await node.setGuard(row, { leaseMs, minHoldMs: 0 });
  for (const node of nodes) {
    let isOver = false;
    const ending = tickWhenFree(playing, node, STEP_LIMIT_MS).finally(() => {
      isOver = true;
    });
    ending.catch(() => {});
    await playing.until(`The clean-up of ${node.name} does not end.`, async () => {
      await node.resume();
      return isOver;
    });
    const result = await ending;
    if (result.outcome !== 'ran') throw new Error(`The clean-up under ${row}: ${narrated(endOf(node, result))}`);
  }
}

/** Writes so many due orders, the first one overdue the longest. Their units are not in stock. */
async function makeDue({ due, query, redis, lock, forget }: OrderPlaying, count: number) {
  const isInMysql = stockOf(lock) === 'mysql';
  const made = Array.from({ length: count }, (_, i) => ({ id: randomUUID(), sku: `drill-due-${i + 1}` }));
  forget(async () => {
    await Promise.all(made.map(({ id, sku }) => redis.del(stockKey(sku), restoredKey(sku, id))));
    if (isInMysql) await query("DELETE FROM tb_stock WHERE sku LIKE 'drill-due-%'");
  });
  if (isInMysql) await query('INSERT INTO tb_stock (sku, stock) VALUES ?', [made.map(({ sku }) => [sku, 0])]);
  else await Promise.all(made.map(({ sku }) => redis.set(stockKey(sku), 0)));
  const rows = made.map(({ id, sku }, i) => [id, sku, 1, 1_000, 'the drill', lock, String(i)]);
  const dates = made.map(
    (_, i) => `(?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) - INTERVAL ${count - i} SECOND, UTC_TIMESTAMP(3))`,
  );
  const sql = `INSERT INTO tb_order (id, sku, quantity, amount, node, lock_name, sale_id, created_at, due_at, changed_at)
    VALUES ${dates.join()}`;
  await query(sql, rows);
  due.push(...made);
}

/** How many orders are closed in MySQL. */
async function closed({ query }: Shop) {
  const [row] = await query<{ closed: number }>("SELECT COUNT(*) AS closed FROM tb_order WHERE status = 'CLOSED'");
  return Number(row?.closed);
}

/** How often the unit of each order was restored, in the order of the orders. */
async function timesRestored({ query, redis, lock, due }: OrderPlaying): Promise<number[]> {
  if (stockOf(lock) !== 'mysql') return Promise.all(due.map(async ({ sku }) => Number(await redis.get(stockKey(sku)))));
  const rows = await query<DueOrder & { stock: number }>('SELECT sku, stock FROM tb_stock');
  return due.map(({ sku }) => Number(rows.find((row) => row.sku === sku)?.stock));
}

/** Starts a run. Resolves when it is held, or when it ends without getting that far. */
async function holdTick(playing: OrderPlaying, name: string, node: TargetNode, halt: Halt): Promise<Tick> {
  const { ticks } = playing;
  playing.mustBeOpen();
  const { did, orders } = halt;
  const { held } = await node.ticks();
  await node.scriptTick({ after: did, orders: did === 'read' ? 1 : orders });
  const tick: Tick = { node, result: node.tick(), isHeld: false };
  ticks.set(name, tick);
  // The node may be killed meanwhile.
  tick.result.then((end) => (tick.ended = end)).catch(() => {});
  const isThere = async () => tick.ended !== undefined || (await node.ticks()).held > held;
  await playing.until(`The run on ${node.name} was neither held nor did it finish.`, isThere);
  if (tick.ended) return tick;
  tick.isHeld = true;
  await mustHaveDone(playing, tick, halt);
  return tick;
}

/** Throws NotStagedError when the runs have not got exactly that far. When they have only read, nothing is restored. */
async function mustHaveDone(playing: OrderPlaying, { node, ended }: Tick, { did, orders }: Halt) {
  const done = did === 'closed' ? await closed(playing) : sum(await timesRestored(playing));
  if (done === (did === 'read' ? 0 : orders)) return;
  const verb = did === 'closed' ? 'closed' : 'restored';
  throw new NotStagedError(
    `The runs had ${verb} ${done} when the run on ${node.name} ${ended ? 'ended' : 'was held'}.`,
  );
}

function tickOf({ ticks }: OrderPlaying, name: string): Tick {
  const found = ticks.get(name);
  if (found === undefined) throw new Error(`There is no run ${name}.`);
  return found;
}

/** Resolves with how the run ended. Throws NotStagedError when it had ended before, or was neither let in nor kept out. */
async function goOn(playing: OrderPlaying, name: string): Promise<StepSentence> {
  const tick = tickOf(playing, name);
  if (tick.isHeld && tick.ended) throw new NotStagedError(`The run on ${tick.node.name} had ended before it resumed.`);
  for (const each of playing.ticks.values()) if (each.node === tick.node) each.isHeld = false;
  await tick.node.resume();
  const result = await tick.result;
  mustNotFail(tick.node, result);
  return endOf(tick.node, result, name);
}

async function tickFor(playing: OrderPlaying, node: TargetNode, limitMs: number): Promise<StepSentence> {
  const result = await tickWhenFree(playing, node, limitMs);
  mustNotFail(node, result);
  playing.isSkipped = limitMs > 0 && result.outcome === 'skipped';
  return endOf(node, result);
}

/** Starts runs until one is not skipped. Resolves with the last result: skipped if none was let in for so long. */
async function tickWhenFree({ mustBeOpen, rest }: Shop, node: TargetNode, limitMs: number): Promise<TickResult> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    mustBeOpen();
    const result = await node.tick();
    if (result.outcome !== 'skipped' || performance.now() >= deadline) return result;
    await rest(TRY_AGAIN_MS);
  }
}

/** Throws NotStagedError when a run failed: then it was neither let in nor kept out. A run that lost its lock was let in. */
function mustNotFail({ name }: TargetNode, result: TickResult) {
  const isAmiss = result.outcome === 'failed' && result.code !== 'LOCK_NOT_HELD';
  if (isAmiss) throw new NotStagedError(`The run on ${name} failed (${result.detail ?? 'no reason given'}).`);
}

/** The step for how a run ended, with or without a letter. */
function endOf({ name: node }: TargetNode, result: TickResult, tick?: string): StepSentence {
  const { outcome, restored, code = 'INTERNAL_ERROR' } = result;
  if (outcome === 'skipped') return told('tick skipped', { tick, node });
  return outcome === 'failed' ? told('tick failed', { tick, node, code }) : told('tick ran', { tick, node, restored });
}
