// The evidence of a verdict, in Chinese.

import { type Wording, worded } from '../../simulation/wording.ts';
import type { Reader, Sight, SightForms } from './evidence.ts';
import { durationInChinese, formatNumber } from './numbers.ts';

const saleIn = ({ node, saleId }: { node: string; saleId: string }) => `${node} 的销售 ${saleId}`;
const secondsIn = (ms: number) => `${(ms / 1000).toFixed(3)} 秒`;
const readerIn = ({ readMs, ...sale }: Reader) =>
  readMs === undefined ? saleIn(sale) : `${saleIn(sale)}（${secondsIn(readMs)}时）`;
const stockIn = ({ stock, bucket }: { stock: number; bucket?: number | undefined }) =>
  bucket === undefined ? `库存 ${stock}` : `桶 ${bucket} 的库存 ${stock}`;

const sightsInChinese: Wording<SightForms> = {
  text: ({ text }) => text,

  'two read the same stock': (of) => `${of.readers.map(readerIn).join('和 ')}都读到${stockIn(of)}`,
  'many read the same stock': (of) =>
    `${of.readers.map(readerIn).join('、')}，以及另外 ${formatNumber(of.others)} 笔销售，都读到${stockIn(of)}`,
  'two were inside': ({ first, second, bucket, fromMs, untilMs }) => {
    const where = bucket === undefined ? '临界区' : `桶 ${bucket} 的临界区`;
    const time = untilMs === undefined ? '之后都没有离开' : `到 ${secondsIn(untilMs)}为止`;
    return `${saleIn(first)} 和 ${saleIn(second)} 同时处于${where}：从 ${secondsIn(fromMs)}起，${time}`;
  },
  'nobody was inside': ({ fromMs, untilMs, first, others }) => {
    const more = others > 0 ? `和另外 ${formatNumber(others)} 笔` : '';
    const who = first === undefined ? '有销售' : `${saleIn(first)} ${more}`;
    return `从 ${secondsIn(fromMs)}到 ${secondsIn(untilMs)}，临界区内没有人，而${first === undefined ? '' : ' '}${who}在等待`;
  },
  'waited and was refused': ({ sale, ms }) => `${saleIn(sale)} 等了 ${durationInChinese(ms)}，被拒绝`,
  'went in after a later one': ({ sale, ahead }) => `${saleIn(sale)} 比 ${saleIn(ahead)} 先申请，却后进入`,

  'unit came back': ({ order, times }) =>
    times === 0 ? `订单 ${order} 的库存一直没有归还` : `订单 ${order} 的库存归还了 ${times} 次`,
  'tick began meanwhile': ({ tick, ms }) =>
    `第 ${tick} 次任务在第 1 次开始 ${durationInChinese(ms)}后开始，那时第 1 次还没有结束`,
  'tick began late': ({ tick, ms }) => `第 ${tick} 次迟到的任务，比预定时间晚了 ${durationInChinese(ms)}`,
  'order nobody learns of': ({ order, node }) => `订单 ${order} 在 ${node} 生成，而重复的请求都没有得到它`,
  'order made': ({ order, node, sale }) => `订单 ${order}，由 ${node} 的销售 ${sale} 生成`,
  'order not refunded': ({ order }) => `订单 ${order} 已付款，却没有它的退款记录`,
  refund: ({ payment, order }) => `付款记录 ${payment}：订单 ${order} 的退款`,
  'message pays': ({ message, order }) => `消息 ${message} 为订单 ${order} 付款`,
  payment: ({ payment, order }) => `付款记录 ${payment}，属于订单 ${order}`,
  'sale took a unit': ({ sale, isHeld }) => `${sale} 扣了一件：${isHeld ? 'MySQL 已写入' : '响应 200'}`,
  'stores have': ({ mysql, redis }) =>
    `MySQL 有 ${mysql} 件，Redis ${redis === undefined ? '没有这个键' : `有 ${redis} 件`}`,
  'nobody bought': ({ mysql }) => `MySQL 有 ${mysql} 件，却没有人买到`,
};

/** The sentence in Chinese, without the full stop. */
export const describedInChinese = (sight: Sight): string => worded<SightForms>(sightsInChinese, sight);
