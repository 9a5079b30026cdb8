// Why a drill of the orders is judged as it is, in Chinese.

import type { FormsOf, Wording } from '../../simulation/wording.ts';
import { durationInChinese, formatNumber } from './numbers.ts';
import type { orderReasons } from './order-reasons.ts';

export const orderReasonsInChinese: Wording<FormsOf<typeof orderReasons>> = {
  // Ticks of the clean-up.
  'units came back': ({ restored, due, open }) =>
    `到期的订单有 ${formatNumber(due)} 个，恢复的库存有 ${formatNumber(restored)} 件。${open > 0 ? `仍有 ${formatNumber(open)} 个订单未关闭。` : ''}`,
  'ticks overlapped': ({ node, ticks }) => `${node} 的一次任务还在执行，又开始了 ${formatNumber(ticks)} 次任务。`,
  'no tick overlapped': ({ node }) => `${node} 的一次任务执行期间，没有开始别的任务。`,
  'ticks piled up': ({ node, ticks }) => `${node} 在此期间到期的 ${formatNumber(ticks)} 次任务随后立即接连执行。`,
  'ticks came late': ({ node, ticks }) =>
    `${node} 有 ${formatNumber(ticks)} 次任务触发晚了：另一个任务占用了事件循环。`,
  'no tick came late': ({ node }) => `${node} 的每次任务都按时触发。`,
  'no ticks piled up': ({ node }) => `${node} 的慢任务之后，没有积压的任务接连执行。`,

  // What is made of one intent.
  'orders for one purchase': ({ orders }) => `一次购买生成了 ${formatNumber(orders)} 个订单。`,
  'orders nobody learns of': ({ orders }) => `一次购买生成了 ${formatNumber(orders)} 个订单，买家却始终得不到结果。`,
  'refunds of one order': ({ refunds }) => `一个订单退款 ${formatNumber(refunds)} 次。`,
  'payments of one': ({ payments, messages }) =>
    `${messages === 1 ? '一条消息' : '发送了两次的同一笔支付，'}入账 ${formatNumber(payments)} 次。`,

  // A stock that is in MySQL and in Redis.
  'units sold of': ({ sold, units }) => `库存 ${formatNumber(units)} 件，卖出 ${formatNumber(sold)} 件。`,
  'stores differ': ({ mysql, redis }) =>
    `两处库存不一致：MySQL 为 ${formatNumber(mysql)}，Redis 为 ${formatNumber(redis)}。`,
  'buyer turned away': ({ mysql }) => `买家被拒绝，而 MySQL 中还有 ${formatNumber(mysql)} 件。`,
  'buyer got a unit': () => '买家买到了商品。',

  // The file of an exercise.
  'no node starts with the file': ({ why }) => `没有节点能用你的文件启动：${why}`,
  'node logged an error': ({ node, type, message }) => `${node} 的日志里有错误 ${type}：${message}。`,
  'file never ends': ({ ms }) => `${durationInChinese(ms)}内没有任何进展：你的文件一直在等待或计算，不会结束。`,

  // What the answers and the accounts do not agree on.
  'units unexplained': ({ units }) => `${formatNumber(units)} 件库存去向不明。`,
  'orders missing': ({ sold, orders }) => `卖出 ${formatNumber(sold)} 件，订单只有 ${formatNumber(orders)} 个。`,
  'more orders than sold': ({ orders, inDoubt, sold, unanswered }) =>
    `订单 ${formatNumber(orders)} 个，另有 ${formatNumber(inDoubt)} 件结果不明，而卖出的只有 ${formatNumber(sold)} 件，结果不明的响应只有 ${formatNumber(unanswered)} 个。`,
};
