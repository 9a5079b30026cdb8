// What happened in a step of a drill of the orders, in Chinese.

import type { FormsOf, Wording } from '../../simulation/wording.ts';
import { durationInChinese, formatNumber } from './numbers.ts';
import type { orderSteps } from './order-steps.ts';

const deeds = { read: '读取', closed: '关闭', restored: '恢复' };
const requests = { click: '点击', repeat: '重复请求', refund: '退款请求', request: '请求' };

const nameOf = (tick: string | undefined) => (tick === undefined ? '一次任务' : `任务 ${tick} `);

export const orderStepsInChinese: Wording<FormsOf<typeof orderSteps>> = {
  // Ticks of the clean-up.
  'orders were due': ({ orders }) => `${formatNumber(orders)} 个订单已到期。`,
  'tick held': ({ tick, node, did, orders }) =>
    `${nameOf(tick)}在 ${node} 开始，${deeds[did]} ${formatNumber(orders)} 个订单后被停住。`,
  'tick ran': ({ tick, node, restored }) =>
    `${nameOf(tick)}在 ${node} 执行完毕，恢复了 ${formatNumber(restored)} 件库存。`,
  'tick skipped': ({ tick, node }) => `${nameOf(tick)}在 ${node} 被跳过。`,
  'tick failed': ({ tick, node, code }) => `${nameOf(tick)}在 ${node} 失败：${code}。`,
  'ticks came': ({ node }) => `${node} 的任务依次触发。`,
  'every tick skipped': ({ node, ms }) => `${durationInChinese(ms)}内，${node} 的任务每次都被跳过。`,
  'ticks kept waiting': ({ ticks }) => `所有任务恢复执行，其中 ${formatNumber(ticks)} 个在等待 MySQL 的行锁。`,
  'ticks on time': ({ node, ms }) => `${node} 开始每 ${durationInChinese(ms)}自动触发一次任务。`,
  'report was busy': ({ node, ms }) => `${node} 的报表任务计算了 ${durationInChinese(ms)}，一直占用事件循环。`,
  'report in slices': ({ node, ms }) => `${node} 的报表任务计算了 ${durationInChinese(ms)}，每算一段就 await 一次。`,
  'ticks by itself': ({ node, ms }) => `${node} 开始每 ${durationInChinese(ms)}自动触发一次任务，第一次任务被停住。`,
  'first tick took': ({ node, ms }) => `${node} 的第一次任务已执行 ${durationInChinese(ms)}。`,
  'first tick resumed': ({ node }) => `${node} 的第一次任务恢复执行。`,

  // Clicks: purchases with one idempotency key.
  'first click held': ({ node }) => `第一次点击到达 ${node}，在业务执行中被停住。`,
  'more clicks came': ({ clicks, nodes, refused, waiting }) =>
    `又有 ${formatNumber(clicks)} 次点击到达 ${nodes.join(' 和 ')}：${formatNumber(refused)} 次立即被拒绝，${formatNumber(waiting)} 次在等待加锁。`,
  'first click resumed': () => '第一次点击恢复执行。',
  'all requests answered': () => '所有请求都得到了响应。',
  'clicks not answered': ({ ms }) => `两个节点各收到一次点击，${durationInChinese(ms)}内都没有响应。`,
  'click made an order': ({ order, node }) => `一次点击到达 ${node}，生成订单 ${order}。`,
  'click through nginx made an order': ({ order, node }) =>
    `一次点击以 GET 请求经过 nginx，在 ${node} 生成订单 ${order}。`,
  'order made': ({ order, node }) => `${node} 生成订单 ${order}。`,
  'order made and paid': ({ order, node }) => `${node} 生成订单 ${order}，订单已支付。`,

  // Answers that are lost, and repeats.
  'answers will be held': ({ nodes }) => `${nodes.join(' 和 ')} 的下一个响应将被扣住。`,
  'client hung up': ({ node }) => `${node} 已准备好响应，客户端断开连接。`,
  'client had no answer': () => '客户端没有得到响应。',
  'seller killed': ({ node, other }) => `生成订单的 ${node} 宕机（SIGKILL），${other} 可以响应。`,
  'nginx passes requests on': () => '这个 nginx 开启了 proxy_next_upstream，我们的配置不允许这样做。',
  'nginx passed the click on': () => 'nginx 把这次点击又转发给了另一个节点。',
  'client repeats': ({ node }) => `客户端向 ${node} 重新发送请求。`,
  'request answered': ({ request, status, order, code }) =>
    `${requests[request]}得到响应 ${status}${order ? `，订单为 ${order}` : code ? ` ${code}` : ''}。`,
  'request not answered': ({ request }) => `${requests[request]}没有得到响应。`,

  // Refunds, and servers that keep them waiting.
  'refund came': ({ node }) => `一个退款请求到达 ${node}。`,
  'refund kept waiting': ({ node }) => `一个退款请求到达 ${node}，在等待订单的行锁。`,
  'all answers delayed': ({ ms }) => `Redis 和 MySQL 变慢：每个响应都延迟 ${durationInChinese(ms)}。`,
  'orders locked': () => '所有订单在 MySQL 中被加上行锁，谁也不能修改订单。',
  'orders and refunds locked': () => '所有订单和退款表在 MySQL 中被加上行锁，谁也不能修改订单或登记退款。',
  'orders unlocked': () => '订单的行锁已释放。',

  // Payments that come through a stream.
  'XACK will be held': () => '每个节点的下一个 XACK 都将在途中被拦住。',
  'message sent': () => '一条消息支付了订单的一半金额。',
  'message sent again': () => '这笔支付以同一个键再次发送，消息已投递给一个节点。',
  'payment booked': () => '这笔支付已入账。',
  'payment booked by': ({ node }) => `${node} 把支付入账，并发出 XACK。`,
  'booker killed': ({ node }) => `${node} 宕机（SIGKILL），它的消息仍未确认（XPENDING）。`,
  'booking came': () => '一个节点准备把支付入账，在等待订单的行锁。',
  'consumer killed': ({ node }) => `收到消息的 ${node} 宕机（SIGKILL）。`,
  'no booking waited': () => '已没有入账操作在等待。',
  'nothing booked, message pending': () => '还没有入账，消息仍未确认（XPENDING），会再次投递。',
  'nothing booked, message acknowledged': () => '还没有入账，消息却已确认，不会再次投递。',
  'messages unacknowledged': () => '开始等待所有消息被确认。',
  'messages acknowledged': ({ ms }) => `${durationInChinese(ms)}后，所有消息都已确认。`,
  'message left pending': ({ ms }) => `${durationInChinese(ms)}后，仍有一条消息未确认（XPENDING）。`,
  'message orphaned': ({ node }) => `消息等待 ${node} 接管。`,
  'message taken over': ({ node, ms }) => `${durationInChinese(ms)}后，${node} 接管了消息并确认。`,

  // A stock that is in MySQL and in Redis.
  'units in both stores': ({ units }) => `MySQL 和 Redis 中的库存都是 ${formatNumber(units)} 件。`,
  'held between the stores': ({ sale, node, mysql, redis }) =>
    `${sale} 到达 ${node}，把 ${mysql} 写入 MySQL，写 Redis 的命令在途中被拦住，Redis 中仍是 ${redis}。`,
  'stock key expired': () => 'Redis 中的库存键丢失。',
  'reader held': ({ node, mysql }) =>
    `${node} 上的一次查询未命中缓存，从 MySQL 读到 ${mysql}，回填 Redis 的命令在途中被拦住。`,
  'reader filled': ({ redis }) => `查询恢复执行，把 ${redis} 回填到 Redis。`,
  'deleted for the last time': ({ sale, deletes }) =>
    `${sale} 已卖出，所在节点已删除缓存${deletes === 1 ? '一次' : '两次'}。`,
  'killed before its delete': ({ node }) => `${node} 在第二次删除缓存之前宕机（SIGKILL）。`,
  'old stock in Redis': ({ redis, mysql }) => `Redis 中是旧的库存 ${redis}，MySQL 中是 ${mysql}。`,

  // Kills at random, under load.
  'kills so far': ({ kills, sold }) =>
    `到目前为止，节点宕机 ${formatNumber(kills)} 次，卖出 ${formatNumber(sold)} 件。`,
  'clean-up has work': ({ orders }) => `已没有人购买，清理任务还有 ${formatNumber(orders)} 个订单要处理。`,
};
