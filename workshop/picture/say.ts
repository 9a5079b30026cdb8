// What happened in a beat, as one sentence in the past tense, and its consequence: made from the beat and the state before
// and after. It knows no lock by name: what is said goes by what was done.

import type { Both } from '../../loadtest/narration/language.ts';
import { durationInChinese, formatDuration, listOf } from '../../loadtest/narration/numbers.ts';
import { narrated, type StepSentence } from '../../loadtest/narration/steps.ts';
import { narratedInChinese } from '../../loadtest/narration/steps.zh.ts';
import type { Returned } from '../../simulation/events.ts';
import type { Beat, Beats, Command, SaleScene, Scene } from './beats.ts';
import type { Act } from './trips.ts';

/** What happened, and its consequence. */
export interface Said {
  big: Both;
  small: Both;
}

export interface Saying {
  stage: string;
  /** Turns a sentence of the lab into text. */
  tell?: (told: unknown) => Both;
}

/** Calls that each wait for the next one; and a single call that retries. */
const [PILES_CALLS, LOOPS] = ['2-recursive-retry', '3-spin'];
/** A command that reaches Redis this soon after its sale's previous one was sent before that one's reply, in milliseconds. */
const ON_THE_WAY_MS = 0.2;
/** The most buyers to name. */
const MOST_NAMED = 4;

const nothing: Both = ['', ''];
const said = (big: Both, small: Both = nothing): Said => ({ big, small });
const toldByLab = (told: unknown): Both => [narrated(told as StepSentence), narratedInChinese(told as StepSentence)];

/** A beat, with the state before and after. */
interface Moment extends Saying {
  beat: Beat;
  /** True for a semaphore: several may hold it. */
  isShared: boolean;
  before: Scene;
  after: Scene;
  sale: string;
  own: SaleScene | undefined;
  /** Another sale that is inside. */
  met: SaleScene | undefined;
  /** A sale that has read the same and has not written. */
  twin: SaleScene | undefined;
  /** True if it is paused or has crashed. */
  isTwinPaused: boolean;
  /** True if the sale is inside without knowing that its lock is gone. */
  isMistaken: boolean;
  later: Beat[];
  stock: number;
}

/** Invisible characters around each sale's name, so that the page can colour it. */
const [OPENS, CLOSES] = ['\u2068', '\u2069'];
/** The parts of a sentence: every second one is the name of a sale. */
export const partsOf = (text: string) => text.split(/[\u2068\u2069]/);

/** The same, with the sales' names between those characters. */
function named<Value>(value: Value, names: Set<string>): Value {
  if (typeof value === 'string') return (names.has(value) ? `${OPENS}${value}${CLOSES}` : value) as Value;
  if (Array.isArray(value)) return value.map((each) => named(each, names)) as Value;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, named(each, names)])) as Value;
}

export function sayOf(beats: Beats, index: number, saying: Saying): Said {
  const last = beats.scenes.at(-1) as Scene;
  const names = new Set(last.sales.map(({ sale }) => sale).filter((sale) => sale >= 'A'));
  const all = named(beats.beats, names);
  const beat = all[index] as Beat;
  const [before, after] = named([beats.scenes[index] as Scene, beats.scenes[index + 1] as Scene] as const, names);
  const { sale } = beat;
  const own = after.sales.findLast((each) => each.sale === sale);
  const others = after.sales.filter((each) => each !== own && each.place === 'inside' && !each.isDead);
  const since = all.slice(0, index).findLastIndex((each) => each.sale === sale && each.command?.act === 'acquire');
  // Of a lock that is not seen in Redis nobody knows when it is gone.
  const isGone = all
    .slice(Math.max(0, since), index + 1)
    .some(({ kind, command }) => kind === 'lease-end' || command?.act === 'release');
  const isTaken = after.holder !== undefined && after.holder !== sale;
  const isShared = beats.place === 'permits';
  const isUnaware = own?.place === 'inside' && !own.isDead && !own.knowsLoss && !isShared;
  const twin = others.find((each) => each.read !== undefined && each.read === own?.read && each.wrote === undefined);
  const moment: Moment = {
    ...saying,
    ...{ beat, before, after, sale, own, isShared, stock: beats.stock, later: all.slice(index + 1) },
    met: others[0],
    twin,
    isTwinPaused: twin !== undefined && after.nodes[twin.node] !== 'running',
    isMistaken: isUnaware && (isTaken || (isGone && after.holder !== sale)),
  };
  return ofKind[beat.kind](moment);
}

const ofKind: Record<Beat['kind'], (moment: Moment) => Said> = {
  come({ before, after, stock }) {
    const came = after.sales.slice(before.sales.length);
    const nodes = [...new Set(came.map(({ node }) => node))];
    const inStock: Both =
      before.sales.length > 0 ? nothing : [`There are ${stock} units in stock.`, `库存 ${stock} 件。`];
    const at = nodes.map((node) => ({
      node,
      sales: came.filter((each) => each.node === node).map(({ sale }) => sale),
    }));
    if (came.length > MOST_NAMED) {
      const where = at.map(({ node }) => node);
      return said(
        [`${came.length} buyers arrived at ${listOf(where)}.`, `${came.length} 个买家来到 ${where.join(' 和 ')}。`],
        inStock,
      );
    }
    const [first, second] = at as [(typeof at)[number], (typeof at)[number]?];
    const buyers = first.sales.length > 1 ? 'Buyers' : 'Buyer';
    const [and, zhAnd] = second
      ? [`, ${listOf(second.sales)} at ${second.node}`, `，${second.sales.join('、')} 来到 ${second.node}`]
      : ['', ''];
    return said(
      [
        `${buyers} ${listOf(first.sales)} arrived at ${first.node}${and}.`,
        `买家 ${first.sales.join('、')} 来到 ${first.node}${zhAnd}。`,
      ],
      inStock,
    );
  },
  'mutex-take': ({ sale, beat: { node, breaks }, met }) =>
    breaks.includes('two-inside') && met
      ? said(
          [
            `${sale} took the mutex of ${node}. ${met.sale} was still inside.`,
            `${sale} 拿到 ${node} 的互斥锁，而 ${met.sale} 还在临界区内。`,
          ],
          ['Each node has its own mutex.', '每个节点都有自己的互斥锁。'],
        )
      : said([`${sale} took the mutex of ${node}.`, `${sale} 拿到 ${node} 的互斥锁。`]),
  'mutex-wait': ({ sale, beat: { node }, after: { mutex } }) =>
    said(
      [`${sale} found the mutex taken, and waited.`, `互斥锁已被占用，${sale} 开始等待。`],
      mutex[node] ? [`${mutex[node]} is inside.`, `${mutex[node]} 在临界区内。`] : nothing,
    ),
  command: (moment) => ofAct[(moment.beat.command as Command).act](moment),
  arrive: (moment) => ofAct[(moment.beat.command as Command).act](moment),
  hold({ sale, beat: { node, command }, before }) {
    const what: Both =
      sale === ''
        ? [`A command of ${node}`, `${node} 的一条命令`]
        : command?.about === 'stock'
          ? [`${sale}'s write`, `${sale} 的写入`]
          : [`${sale}'s release`, `${sale} 的释放`];
    return said(
      [`${what[0]} was delayed on its way to Redis.`, `${what[1]}卡在去 Redis 的路上。`],
      sale !== '' && before.lock?.endsAt ? ['Its lease keeps running.', '租期仍在倒数。'] : nothing,
    );
  },
  tries: ({ sale, beat: { times }, own, stage }) => {
    const tries = own?.tries ?? 0;
    const waits: Partial<Record<string, Both>> = {
      [PILES_CALLS]: [
        `${tries} calls are open now, each waiting for the next.`,
        `${tries} 个调用都没有返回，一个等一个。`,
      ],
      [LOOPS]: [`It is still a single call: it loops, and nothing piles up.`, '始终只有一个调用：循环重试，不会堆积。'],
    };
    return said(
      [`${sale} tried ${often(times)}, and was refused.`, `${sale} 又请求 ${times} 次，都被拒绝。`],
      tries > 1 ? waits[stage] : nothing,
    );
  },
  renews: ({ sale, beat: { times }, isShared }) =>
    said(
      [`${sale}'s watchdog renewed the lease ${often(times)}.`, `${sale} 的看门狗又续期 ${times} 次。`],
      isShared
        ? [`${sale} keeps its permit while it works.`, `${sale} 工作期间一直持有许可。`]
        : [`${sale} keeps the lock while it works.`, `${sale} 工作期间一直持有锁。`],
    ),
  /** A reply that the process did not read when it arrived. */
  reads: (moment) => ofReading(moment),
  'lease-end': ({ sale, before, isShared, isMistaken }) =>
    isShared
      ? said(['The last lease ended, and Redis deleted all permits.', '最后一个租期到了，Redis 删除了全部许可。'])
      : sale === ''
        ? said(['The lease ended, and Redis deleted the lock.', '租期到了，Redis 删除了锁。'])
        : said(
            [`${sale}'s lease ended, and Redis deleted its lock.`, `${sale} 的租期到了，Redis 删除了它的锁。`],
            before.onWire?.sale === sale
              ? [`${sale}'s release is still on its way.`, `${sale} 的释放还在路上。`]
              : isMistaken
                ? thinks(sale)
                : ['The lock is free.', '锁已释放。'],
          ),
  node: (moment) => ofNode(moment),
  'give-up': ({ sale, own, before, after, isShared }) => {
    const why = own?.code === undefined ? undefined : refusals[own.code];
    if (why) return said(why(sale));
    const holder = before.sales.find((each) => each.sale === before.holder);
    const waited = Math.round((after.at - (own?.since ?? after.at)) / 50) * 50;
    const whoEnded = own?.code === undefined || waited === 0 ? undefined : waitsEnd[own.code];
    return said(
      whoEnded?.(sale, lasts(waited)) ?? [`${sale} gave up waiting.`, `${sale} 放弃等待。`],
      holder?.isDead && before.lock?.endsAt === undefined
        ? [`${holder.sale}'s lock stays in Redis forever.`, `${holder.sale} 的锁永远留在 Redis 里。`]
        : isShared
          ? ['No permit was free in time.', '一直没有空闲的许可。']
          : ['The lock was never free in time.', '锁一直没有空出来。'],
    );
  },
  told: ({ beat: { told }, tell = toldByLab }) => said(tell(told)),
  end: (moment) => howItEnded(moment),
};

const often = (times: number) => (times === 1 ? 'once more' : `${times} more times`);
const lasts = (ms: number): Both => [formatDuration(ms), durationInChinese(ms)];
const timesOf = (count: number) => ['never', 'once', 'twice'][count] ?? `${count} times`;
const thinks = (sale: string): Both => [`${sale} thinks it holds the lock.`, `${sale} 以为自己仍持有锁。`];

/** Who ended the sale's wait. */
const waitsEnd: Record<string, (sale: string, waited: Both) => Both> = {
  LOCK_WAIT_TIMEOUT: (sale, [ms, zhMs]) => [
    `${sale} gave up: it had waited ${ms}, its limit.`,
    `${sale} 放弃：它等了 ${zhMs}，到了上限。`,
  ],
  CLIENT_GONE: (sale, [ms, zhMs]) => [
    `Buyer ${sale} waited ${ms}, then left.`,
    `买家 ${sale} 等了 ${zhMs}，然后离开。`,
  ],
};

/** Why nothing was sold, by problem code. */
const refusals: Record<string, (sale: string) => Both> = {
  OUT_OF_STOCK: (sale) => [`${sale} found no units left in stock.`, `${sale} 发现库存已空。`],
  STORE_UNAVAILABLE: (sale) => [
    `${sale} got no reply from Redis, and gave up.`,
    `${sale} 得不到 Redis 的回复，放弃了。`,
  ],
  LOCK_NOT_HELD: (sale) => [
    `${sale} found out that it had lost the lock, and gave up.`,
    `${sale} 得知锁已丢失，放弃了。`,
  ],
  ORDER_FAILED: (sale) => [`${sale} failed before its write.`, `${sale} 还没写回就失败了。`],
  NOT_REPLICATED: (sale) => [`${sale} failed: no replica confirmed the write.`, `${sale} 被拒绝：没有副本确认。`],
  TOO_MANY_CONFLICTS: (sale) => [
    `Other sales wrote first every time, and ${sale} gave up.`,
    `每次都被别人抢先写入，${sale} 放弃了。`,
  ],
  LOCK_FAILED: (sale) => [`The lock failed, and ${sale} gave up.`, `锁出错，${sale} 放弃了。`],
};

function ofNode({ beat: { node, is }, before, after, sale, own, isMistaken }: Moment): Said {
  if (is === 'killed') {
    if (sale === '') return said([`${node} crashed.`, `${node} 宕机。`]);
    return said(
      [`${node} crashed, and ${sale} with it.`, `${node} 宕机，${sale} 随之中断。`],
      after.holder === sale ? ['Its lock stays in Redis.', '它的锁还留在 Redis 里。'] : nothing,
    );
  }
  if (is === 'stopped')
    return said(
      sale === ''
        ? [`${node} was paused.`, `${node} 停顿。`]
        : [`${node} was paused in the middle of ${sale}'s sale.`, `${node} 停顿，${sale} 的销售做到一半。`],
      ["It can't send anything, so it can't renew its lease.", '它什么也发不出去，也就无法续期。'],
    );
  if (is === 'blocked')
    return said(
      [`${node} was busy computing, and did not respond.`, `${node} 忙于计算，不再响应。`],
      ["Its timers don't fire either, so nothing is renewed.", '定时器也停了，所以无法续期。'],
    );
  if (before.nodes[node] === 'killed') return said([`${node} restarted.`, `${node} 重新启动。`]);
  const isOld = own?.read !== undefined && own.wrote === undefined && own.read !== after.stock;
  return said(
    sale === ''
      ? [`${node} resumed.`, `${node} 恢复运行。`]
      : [`${node} resumed, and ${sale} carried on.`, `${node} 恢复运行，${sale} 继续执行。`],
    isMistaken
      ? isOld
        ? [
            `${sale} thinks it holds the lock. It read ${own.read}, and the stock is ${after.stock}.`,
            `${sale} 以为自己仍持有锁。它读到 ${own.read}，而库存已是 ${after.stock}。`,
          ]
        : thinks(sale)
      : nothing,
  );
}

const ofAct: Record<Act, (moment: Moment) => Said> = {
  read(moment) {
    const { sale, own, beat, twin, isTwinPaused, isMistaken } = moment;
    const { command, breaks } = beat;
    if (own?.read === undefined || own.wrote !== undefined)
      return said([
        `${sale} looked at the stock: ${writtenReply(command)}.`,
        `${sale} 查看库存：${writtenReply(command)}。`,
      ]);
    const { read } = own;
    if (breaks.includes('same-read') && twin)
      return said(
        [
          `${sale} read ${read} too: ${twin.sale} had not written yet.`,
          `${twin.sale} 还没写回，${sale} 也读到 ${read}。`,
        ],
        noted(moment) ??
          (isTwinPaused
            ? [`${twin.sale} is paused, and still has ${read}.`, `${twin.sale} 停顿中，手里还是 ${read}。`]
            : [`Both are about to sell unit ${read}.`, `${twin.sale} 和 ${sale} 都准备卖出第 ${read} 件。`]),
      );
    return said(
      [`${sale} read the stock: ${read}.`, `${sale} 读到库存：${read}。`],
      noted(moment) ??
        (isMistaken
          ? thinks(sale)
          : [`It is about to sell unit ${read} and write ${read - 1}.`, `它准备卖出第 ${read} 件，写回 ${read - 1}。`]),
    );
  },
  write: (moment) => ofWrite(moment),
  sell: ({ sale, own, before, after, beat: { breaks } }) => {
    const unit = own?.read ?? before.stock;
    if (breaks.includes('overwritten')) return said([`${sale} sold unit ${unit}.`, `${sale} 卖出第 ${unit} 件。`]);
    return said(
      [`${sale} read and wrote in one step: unit ${unit} is sold.`, `${sale} 一步完成读和写：卖出第 ${unit} 件。`],
      [`The stock is ${after.stock}.`, `库存变为 ${after.stock}。`],
    );
  },
  'write-refused': ({ sale, own, before, beat: { kind } }) =>
    said(
      own?.token !== undefined || kind === 'arrive'
        ? [`The stock refused ${sale}'s late write.`, `库存拒绝了 ${sale} 迟到的写入。`]
        : [`The stock refused ${sale}'s write.`, `库存拒绝了 ${sale} 的写入。`],
      own?.token !== undefined && before.newest !== undefined && own.token !== before.newest
        ? [
            `Its token is ${own.token}, and the newest is ${before.newest}.`,
            `它的令牌是 ${own.token}，而最新令牌是 ${before.newest}。`,
          ]
        : ['Another sale came first.', '另一笔销售抢先了。'],
    ),
  acquire(moment) {
    const { sale, own, before, after, met } = moment;
    const { breaks, leaseMs } = moment.beat;
    if (moment.isShared) return said([`${sale} got a permit.`, `${sale} 拿到一个许可。`], beside(moment));
    if (before.sales.some((each) => each.sale === sale && each.place === 'inside'))
      return said(
        [`${sale} got the lock a second time.`, `${sale} 又一次拿到锁。`],
        ['Its first lease had ended.', '它的前一个租期已经结束。'],
      );
    const [token, zhToken] =
      own?.token === undefined ? ['', ''] : [`, with token ${own.token}`, `，令牌是 ${own.token}`];
    if (breaks.includes('two-inside') && met)
      return said(
        [
          `${sale} got the lock${token}. ${met.sale} was still inside.`,
          `${sale} 拿到锁${zhToken}，而 ${met.sale} 还在临界区内。`,
        ],
        after.holder === sale ? thinks(met.sale) : nothing,
      );
    return said(
      [`${sale} got the lock${token}.`, `${sale} 拿到锁${zhToken}。`],
      after.lock === undefined
        ? nothing
        : leaseMs === undefined
          ? ['It has no lease: it stays until it is deleted.', '没有租期，不删除就一直在。']
          : [`The lease is ${lasts(leaseMs)[0]}.`, `租期 ${lasts(leaseMs)[1]}，到期自动删除。`],
    );
  },
  'acquire-again': ({ sale, after: { lock } }) =>
    said(
      [`${sale} acquired its own lock again.`, `${sale} 再次申请自己持有的锁，成功了。`],
      lock?.count === undefined
        ? nothing
        : [`It holds the lock ${timesOf(lock.count)} now.`, `现在持有 ${lock.count} 次。`],
    ),
  denied({ sale, before, beat: { breaks }, isShared }) {
    const waits: Both = [`${sale} has to wait.`, `${sale} 只能等待。`];
    if (isShared)
      return said([`${sale} asked for a permit, but none was left.`, `${sale} 申请许可，已无空闲。`], waits);
    if (breaks.includes('own-lock') && (before.holder ?? sale) === sale)
      return said(
        [`${sale} tried to acquire its own lock again, and was refused.`, `${sale} 再次申请自己持有的锁，被拒绝。`],
        [`${sale} waits for itself.`, `${sale} 在等自己。`],
      );
    const holder = before.sales.findLast((each) => each.sale === before.holder);
    if (holder === undefined)
      return said([`${sale} tried to acquire the lock, and was refused.`, `${sale} 请求加锁，被拒绝。`]);
    return said(
      [
        `${sale} tried to acquire the lock, but ${holder.sale} held it.`,
        `${sale} 请求加锁，但锁由 ${holder.sale} 持有。`,
      ],
      holder.isDead
        ? [`${holder.sale} crashed, and will never release it.`, `${holder.sale} 已宕机，不会再释放锁。`]
        : waits,
    );
  },
  look({ sale, before, later, own }) {
    const deletes = later.some((beat) => beat.sale === sale && beat.command?.act === 'release');
    const leaves: Both =
      own?.step === 'done' && !deletes ? [`${sale} deleted nothing.`, `${sale} 什么也没删。`] : nothing;
    if (before.holder === undefined)
      return said([`${sale} checked the lock, and it was gone.`, `${sale} 查看锁，锁已不存在。`], leaves);
    if (before.holder !== sale)
      return said(
        [`${sale} checked the lock: it was ${before.holder}'s.`, `${sale} 查看锁的持有者：是 ${before.holder}。`],
        leaves,
      );
    return said(
      [`${sale} checked the lock: it was its own.`, `${sale} 查看锁的持有者：是自己。`],
      deletes ? [`So ${sale} may delete it.`, '所以可以删除。'] : nothing,
    );
  },
  release(moment) {
    const { sale, own, before, after, isMistaken } = moment;
    const { breaks, kind } = moment.beat;
    if (moment.isShared) return gaveBack(moment);
    const isLate = kind === 'arrive';
    const { holder = '' } = before;
    // It releases what it has got a second time, and has more to do.
    if (isMistaken && own?.step !== 'release' && !breaks.includes('freed-other'))
      return said(
        [`${sale} released the lock that it got for its second call.`, `${sale} 释放了第二次调用时拿到的锁。`],
        [`It thinks it still holds the first lock, and carries on.`, `它以为第一次的锁还在，继续执行。`],
      );
    if (!breaks.includes('freed-other'))
      return said(
        isLate
          ? [`${sale}'s late release arrived. The lock is free.`, `${sale} 迟到的释放到达，锁已释放。`]
          : [`${sale} released the lock.`, `${sale} 释放了锁。`],
        isMistaken ? thinks(sale) : nothing,
      );
    const isInside = after.sales.some((each) => each.sale === holder && each.place === 'inside' && !each.isDead);
    return said(
      isLate
        ? [`${sale}'s late release deleted ${holder}'s lock.`, `${sale} 迟到的释放误删了 ${holder} 的锁。`]
        : [`${sale}'s release deleted ${holder}'s lock.`, `${sale} 的释放误删了 ${holder} 的锁。`],
      isInside
        ? [`${holder} is still inside, and others can get in.`, `${holder} 还在临界区内，别人却可以进入了。`]
        : nothing,
    );
  },
  'release-once': ({ sale, after: { lock } }) =>
    said(
      [`${sale} released once, and still holds the lock.`, `${sale} 释放一次，仍持有锁。`],
      lock?.count === undefined
        ? nothing
        : [`It has to release it ${timesOf(lock.count)} more.`, `还要再释放 ${lock.count} 次。`],
    ),
  'release-refused': (moment) => {
    const { sale, beat, before } = moment;
    const { holder } = before;
    if (moment.isShared && beat.command?.returned !== -1) return gaveBack(moment);
    return holder !== undefined && holder !== sale
      ? said(
          beat.kind === 'arrive'
            ? [
                `${sale}'s late release found ${holder}'s lock, and left it alone.`,
                `${sale} 迟到的释放发现锁是 ${holder} 的，没有删。`,
              ]
            : [
                `${sale}'s release found ${holder}'s lock, and left it alone.`,
                `${sale} 的释放发现锁是 ${holder} 的，没有删。`,
              ],
          ['It checks and deletes in one step.', '判断和删除是原子的一步。'],
        )
      : said(
          moment.isShared
            ? [`${sale} tried to return its permit, but no longer had one.`, `${sale} 要归还许可，但许可已失效。`]
            : [`${sale} tried to release the lock, but it was gone.`, `${sale} 要释放锁，但锁已不存在。`],
          [`Only then did ${sale} find out that it had lost it.`, `${sale} 这时才发现锁早已丢失。`],
        );
  },
  renew: ({ sale, beat: { leaseMs } }) =>
    said(
      [`${sale}'s watchdog renewed the lease.`, `${sale} 的看门狗续期成功。`],
      leaseMs === undefined
        ? nothing
        : [`The ${lasts(leaseMs)[0]} start again.`, `租期 ${lasts(leaseMs)[1]}，重新开始计时。`],
    ),
  'renew-refused'({ sale, beat: { at }, before: { holder }, later }) {
    const next = later.find((each) => each.sale === sale && each.command);
    const hasSent = next?.command?.about === 'stock' && next.at - at < ON_THE_WAY_MS;
    return said(
      [`${sale}'s watchdog found that the lock was gone.`, `${sale} 的看门狗发现锁已丢失。`],
      hasSent
        ? [`Too late: ${sale}'s write was already on its way.`, `太晚了：${sale} 的写命令已经发出。`]
        : holder !== undefined && holder !== sale
          ? [`${holder} has it now.`, `现在由 ${holder} 持有。`]
          : nothing,
    );
  },
  other: ({ sale, beat: { command } }) =>
    said([`${sale} sent ${written(command as Command)}.`, `${sale} 发出 ${written(command as Command)}。`]),
};

function ofWrite(moment: Moment): Said {
  const { sale, own, before, after, twin, isTwinPaused, isMistaken } = moment;
  const { breaks, kind } = moment.beat;
  const { wrote = after.stock, read = before.stock } = own ?? {};
  if (breaks.includes('overwritten')) {
    const last = before.till.at(-1);
    const whose = last && last.unit - 1 === before.stock ? last.sale : undefined;
    const [over, zhOver] = whose
      ? [`${whose}'s ${before.stock}`, `${whose} 写的 ${before.stock}`]
      : [`${before.stock}`, `${before.stock}`];
    return said(
      kind === 'arrive'
        ? [`${sale}'s late write put ${wrote} over ${over}.`, `${sale} 迟到的写入 ${wrote} 覆盖了 ${zhOver}。`]
        : [`${sale} wrote ${wrote} over ${over}.`, `${sale} 写回 ${wrote}，覆盖了 ${zhOver}。`],
      soldTwice(after),
    );
  }
  return said(
    kind === 'arrive'
      ? [`${sale}'s late write arrived: the stock is ${wrote}.`, `${sale} 迟到的写入到达：库存变为 ${wrote}。`]
      : [`${sale} wrote ${wrote}. Unit ${read} is sold.`, `${sale} 写回 ${wrote}，第 ${read} 件卖出。`],
    noted(moment) ??
      (isMistaken
        ? thinks(sale)
        : !twin
          ? nothing
          : isTwinPaused
            ? [`${twin.sale}, still paused, has read ${read} as well.`, `停顿中的 ${twin.sale} 也读到过 ${read}。`]
            : [
                `${twin.sale} has read ${read} as well, and is about to write ${wrote}.`,
                `${twin.sale} 也读到了 ${read}，也准备写回 ${wrote}。`,
              ]),
  );
}

/** The stock has seen a newer token. */
const noted = ({ sale, own, before, after }: Moment): Both | undefined =>
  after.newest === before.newest || own?.token === undefined
    ? undefined
    : [
        `The stock recorded ${sale}'s token: the newest is now ${own.token}.`,
        `库存记下 ${sale} 的令牌：最新令牌是 ${own.token}。`,
      ];

/** The other sales that hold a permit. */
function beside({ sale, after }: Moment): Both {
  const others = after.sales.filter((each) => each.sale !== sale && each.place === 'inside' && !each.isDead);
  const names = others.map((each) => each.sale);
  if (names.length === 0) return nothing;
  return [`${listOf(names)} ${names.length === 1 ? 'has' : 'have'} one too.`, `${names.join('、')} 也有许可。`];
}

const gaveBack = ({ sale }: Moment) => said([`${sale} returned its permit.`, `${sale} 归还了许可。`]);

/** A process reads a reply that arrived earlier, and acts on it. */
function ofReading(moment: Moment): Said {
  const { sale, own, before, beat } = moment;
  const was = before.sales.findLast((each) => each.sale === sale);
  if (own?.read !== undefined && was?.read === undefined) return ofAct.read(moment);
  const reply = replyOf(beat.returned);
  return said(
    [`${sale} read the reply: ${reply}.`, `${sale} 读到回复：${reply}。`],
    own?.place === was?.place
      ? nothing
      : own?.place === 'inside'
        ? [`Now ${sale} knows that it has the lock.`, `${sale} 这才知道自己拿到了锁。`]
        : nothing,
  );
}

/** What was sold twice, or was sold but is still in stock. */
function soldTwice({ till, stock, shouldBe }: Scene): Both {
  const units = [...new Set(till.filter(({ isDouble }) => isDouble).map(({ unit }) => unit))];
  const [unit] = units;
  if (stock - shouldBe === units.length && unit !== undefined)
    return units.length === 1
      ? [`Unit ${unit} was sold twice.`, `第 ${unit} 件卖了两次。`]
      : [`${units.length} units were sold twice.`, `有 ${units.length} 件卖了两次。`];
  return [
    `${stock - shouldBe} sold units are back in stock, and will be sold again.`,
    `有 ${stock - shouldBe} 件卖出的货又回到库存，会再卖一次。`,
  ];
}

/** How the run ended. */
function howItEnded({ after, stock, stage }: Moment): Said {
  const { till, sales } = after;
  const [paid, fell] = [till.length, stock - after.stock];
  if (paid === 0)
    return said(['Nobody bought anything.', '谁也没有买到。'], ['The stock did not change.', '库存没有变化。']);
  const big: Both = [
    `${paid} ${paid === 1 ? 'buyer' : 'buyers'} paid. The stock fell by ${fell}.`,
    `${paid} 个买家付了钱，库存减少 ${fell} 件。`,
  ];
  if (after.stock > after.shouldBe) return said(big, soldTwice(after));
  const tries = Math.max(...sales.map((each) => each.tries));
  if (stage === PILES_CALLS && tries > 1)
    return said(big, [
      `Nothing was sold twice, but one wait kept ${tries} calls in memory.`,
      `没有重复卖出，但一次等待在内存里留下 ${tries} 个调用。`,
    ]);
  if (stage === LOOPS && tries > 1)
    return said(big, [
      `Nothing was sold twice, and a wait of ${tries} tries took a single call.`,
      `没有重复卖出，一次等待试了 ${tries} 次，只有一个调用。`,
    ]);
  const without = sales.filter((each) => each.wrote === undefined && !each.isDead).map(({ sale }) => sale);
  if (without.length === 0) return said(big, ['That is correct.', '结果正确。']);
  if (without.length > MOST_NAMED)
    return said(big, [
      `${without.length} buyers got nothing, and paid nothing.`,
      `${without.length} 个买家没有买到，也没有付钱。`,
    ]);
  return said(big, [
    `${listOf(without)} got nothing, and paid nothing.`,
    `${without.join('、')} 没有买到，也没有付钱。`,
  ]);
}

/** A command's text beside its dot: `SET lock A PX 500 NX`, `release-if-owner A`. */
export function written({ name, verb, args = [], about }: Command): string {
  // A script is called by its name alone.
  if (verb === name) return [name, args[0]].filter(Boolean).join(' ');
  return about === 'lock' ? [verb, ...args].join(' ') : verb;
}

/** Its reply, as redis-cli would print it. */
export const writtenReply = (command: Pick<Command, 'returned'> | undefined): string => replyOf(command?.returned);

function replyOf(returned: Returned | undefined): string {
  if (Array.isArray(returned)) return returned.map(replyOf).join(' ');
  return returned === null || returned === undefined ? 'nil' : String(returned);
}
