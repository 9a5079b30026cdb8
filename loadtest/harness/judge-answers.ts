// The verdict on answers when Redis has failed over: is every sale that was answered as sold in the stock?

import type { StepHistory } from '../evidence/history.ts';
import { countOf } from '../evidence/numbers.ts';
import { readStock } from '../evidence/stock.ts';
import type { Judgement } from './step-drill.ts';

/** `answer` is that of the sale before the failover: `sold`, or the code by which it was refused. */
export function judgeAnswers(outcome: StepHistory, answer: string): Judgement {
  const { sold, inDoubt, lostUpdates, finalStock, expectedStock, witnesses } = readStock(outcome);
  const figures = { sold, inDoubt, lostUpdates, finalStock, expectedStock };
  if (lostUpdates > 0) {
    const reason = `The stock is ${finalStock} instead of ${expectedStock} at most: it knows nothing of ${countOf(lostUpdates, 'sale')} that was answered as sold.`;
    const answers = outcome.ends.flatMap((end) => (end.outcome === 'sold' ? [end.sale] : []));
    const told = answers.map(
      ({ saleId, node, stockBefore, remaining }) =>
        `sale ${saleId} on ${node} was answered: sold, ${stockBefore} before and ${remaining} after it`,
    );
    return { verdict: 'fail', reason, figures, witnesses: [...witnesses, ...told] };
  }
  const reason =
    answer === 'sold'
      ? 'Every sale that was answered as sold is in the stock.'
      : `The sale was not answered as sold but ${answer}, so no answer is forgotten; the price is that nobody sells without a replica.`;
  return { verdict: 'pass', reason, figures, witnesses: [] };
}
