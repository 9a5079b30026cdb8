// The response of a sale to `Accept: text/plain`: a sentence, as in the course.

import type { Problem } from '../problem.ts';
import type { BasketSold, Sold } from './sku.ts';

type Answer = Sold | BasketSold | Problem;

const soldOut = '商品卖完了,o(╥﹏╥)o';

/** The response as one line. `port`: of the node that responds. */
export function inWords(answer: Answer, port: number | undefined): string {
  if (!('code' in answer)) return `${sold(answer)} 服务端口号: ${answer.port}\n`;
  return answer.code === 'OUT_OF_STOCK' ? `${soldOut} 服务端口号: ${port}\n` : `${answer.detail}\n`;
}

function sold(sale: Sold | BasketSold): string {
  if (!('skus' in sale)) return `成功卖出一个商品,库存剩余: ${sale.remaining}`;
  const left = sale.skus.map(({ sku, remaining }) => `${sku} ${remaining}`).join(', ');
  return `成功卖出 ${sale.skus.length} 个商品,库存剩余: ${left}`;
}
