// Why a verdict is what it is, in English: a sentence for each form. The Chinese is in reasons.zh.ts.

import { type FormsOf, type Given, type Sentence, worded } from '../../simulation/wording.ts';
import { countOf, formatDuration, formatMeasure, formatNumber, listOf } from './numbers.ts';
import { orderReasons } from './order-reasons.ts';

export const reasons = {
  /** A sentence that has no form of its own. */
  text: ({ text }: { text: string }) => text,
  /** What a page says of a verdict itself. */
  page: ({ text }: { text: string; zh?: string | undefined }) => text,

  // The stock.
  'met and lost nothing': ({ pairs }: { pairs: number }) =>
    `Two had read the stock at the same moment: ${countOf(pairs, 'pair')}. No unit is sold twice: who wrote last was refused, or began again.`,
  'sold without a write': ({ sales }: { sales: number }) =>
    `${countOf(sales, 'buyer was', 'buyers were')} told of a unit that no write took from the stock.`,
  'units to nobody': ({ units, sold, gone, answer }: { units: number; sold: number; gone: number; answer: string }) =>
    `${countOf(units, 'unit')} went to nobody: ${sold} answers say sold, and ${gone} units are gone. Others were answered "${answer}".`,
  'stock below zero': ({ stock }: { stock: number }) => `The stock is ${stock}: more was taken than there was.`,
  'others answered': ({ others, answer }: { others: number; answer: string }) =>
    `${others} were answered otherwise, such as "${answer}".`,
  'stock too high': ({ stock, most }: { stock: number; most: number }) =>
    `The stock is ${stock} instead of ${most} at most.`,
  'units sold to nobody': ({ units }: { units: number }) => `${countOf(units, 'unit')} went to clients that had gone.`,
  'buyers in doubt': ({ inDoubt, buyers }: { inDoubt: number; buyers: number }) =>
    `${inDoubt} of ${buyers} buyers do not know whether they have bought.`,

  // Who was inside.
  'two were inside': ({ pairs }: { pairs: number }) =>
    `Two holders were inside at the same moment: ${countOf(pairs, 'pair')}.`,
  'too many inside': ({ most, permits }: { most: number; permits: number }) =>
    `${formatNumber(most)} were inside at the same moment, with ${countOf(permits, 'permit')}.`,
  'too few inside': ({ most, permits }: { most: number; permits: number }) =>
    `${formatNumber(most)} at most ${most === 1 ? 'was' : 'were'} inside at the same moment, with ${countOf(permits, 'permit')}.`,
  'permits taken': ({ permits }: { permits: number }) =>
    `${formatNumber(permits)} were inside at the same moment, and never more.`,
  'permit not back': ({ node, ms }: { node: string; ms: number }) =>
    `After ${formatDuration(ms)} the last permit could not be taken at ${node}.`,
  'got in beside': ({ sale, other }: { sale: string; other: string }) => `${sale} got in while ${other} was inside.`,
  'was kept out': ({ sale, other }: { sale: string; other: string }) =>
    `${sale} did not get in while ${other} was inside, though another user asked.`,
  overtaken: ({ overtaken, waiters, order }: { overtaken: number; waiters: number; order: number[] }) =>
    `${overtaken} of ${waiters} were overtaken: they entered in the order ${order.join(', ')}.`,
  starved: ({ others }: { others: number }) =>
    `${others} went first that had come later, one after the other, and nothing bounds how many more.`,
  'went in': ({ sale, others }: { sale: string; others: number }) =>
    `${sale} went in ${others === 0 ? 'before all' : `after ${countOf(others, 'other')}`} that had come later.`,
  'free lock not entered': ({ node, ms }: { node: string; ms: number }) =>
    `The lock was free, and the sale on ${node} did not enter within ${formatDuration(ms)}.`,

  // Whether a sale took place, and when.
  'could not sell': ({ node, ms }: { node: string; ms: number }) =>
    `${node} could not sell within ${formatDuration(ms)}.`,
  'sold after the fault': ({ node, ms }: { node: string; ms: number }) =>
    `${node} sold ${formatDuration(ms)} after the fault.`,
  'was sold': ({ sale, ms }: { sale: string; ms: number }) => `${sale} was sold within ${formatDuration(ms)}.`,
  'was not sold': ({ sale, ms }: { sale: string; ms: number }) => `${sale} was not sold within ${formatDuration(ms)}.`,
  'was answered': ({ sale, ms }: { sale: string; ms: number }) => `${sale} was answered in ${formatDuration(ms)}.`,
  'waited for itself': ({ sale, ms }: { sale: string; ms: number }) =>
    `${sale} waited for itself: after ${formatDuration(ms)} it had not sold.`,
  'waited for its own lease': ({ sale, ms }: { sale: string; ms: number }) =>
    `${sale} waited for itself: after ${formatDuration(ms)} its own lease had ended.`,

  // Clients that hang up, and what waiting costs.
  'waiters left': ({ ms }: { ms: number }) => `After ${formatDuration(ms)} nobody waited any more.`,
  'waiters stayed': ({ sales, ms }: { sales: number; ms: number }) =>
    `${countOf(sales, 'sale')} still waited for clients that had hung up ${formatDuration(ms)} before.`,
  'a try keeps': ({ bytesPerTry, tries }: { bytesPerTry: number; tries: number }) =>
    `Each failed try keeps ${formatMeasure(bytesPerTry)} bytes: ${formatNumber(tries)} tries, ${formatNumber((bytesPerTry * tries) / 1024)} kB.`,

  // Those who look at the stock.
  'answered too early': (of: { node: string; stock: number; sale: string; seller: string }) =>
    `${of.node} answered ${of.stock} while sale ${of.sale} on ${of.seller} was between its read and its write.`,
  'answered an old stock': (of: { node: string; stock: number; sale: string; written: number }) =>
    `${of.node} answered ${of.stock}; sale ${of.sale} had written ${of.written} by then.`,
  'looker waited': () => 'Who looked waited for the sale.',
  'looker waited for a looker': ({ node, other }: { node: string; other: string }) =>
    `Who looks waits for others who only look: ${node} for ${other}.`,
  'two looked at once': () => 'Two looked at once.',
  'entered while another looked': ({ node, reader }: { node: string; reader: string }) =>
    `A sale entered on ${node} while ${reader} was about to read the stock.`,

  // Two skus.
  'baskets crossed': ({ baskets, ms }: { baskets: number; ms: number }) =>
    `${countOf(baskets, 'basket was', 'baskets were')} not sold in ${formatDuration(ms)}: each had the lock that the other waited for.`,
  'baskets not sold': ({ baskets, ms, answers }: { baskets: number; ms: number; answers: string[] }) =>
    `${countOf(baskets, 'basket was', 'baskets were')} not sold in ${formatDuration(ms)}: they ended so: ${listOf(answers)}.`,
  'crossed baskets sold': ({ sales }: { sales: string[] }) =>
    `${listOf(sales)} were sold, though each had a lock that the other wanted.`,
  'baskets sold in turn': ({ sales }: { sales: string[] }) => `${listOf(sales)} were sold, one after the other.`,
  'stocks of baskets': ({ sold, stocks, expected }: { sold: number; stocks: number[]; expected: number }) =>
    `${sold} baskets were sold, and the stock is ${listOf(stocks.map(String))} instead of ${expected}.`,

  // Servers that are away.
  'requests cut off': ({ requests }: { requests: number }) =>
    `${countOf(requests, 'request')} cut off or answered with nonsense.`,
  'an answer took': ({ ms, limitMs }: { ms: number; limitMs: number }) =>
    `While Redis was away a buyer waited ${formatDuration(ms)} for an answer, and ${formatDuration(limitMs)} are allowed.`,
  'slowest answer': ({ ms }: { ms: number }) => `While Redis was away an answer took ${formatDuration(ms)} at most.`,
  'no sale after SIGSTOP': ({ limitMs }: { limitMs: number }) =>
    `Redis was paused (SIGSTOP), and nothing was sold within ${formatDuration(limitMs)} of its return.`,
  'no sale after SIGKILL': ({ limitMs }: { limitMs: number }) =>
    `Redis was killed (SIGKILL), and nothing was sold within ${formatDuration(limitMs)} of its return.`,
  'key stayed': ({ key, ms }: { key: string; ms: number | null }) =>
    `The key ${key} stayed, ${ms === null ? 'and has no TTL' : `with a TTL of ${formatDuration(ms)}`}.`,
  'sales flowed again': ({ ms }: { ms: number }) => `After its return sales flowed again in ${formatDuration(ms)}.`,
  'sold without a minority': ({ killed, ms }: { killed: number; ms: number }) =>
    `Without ${countOf(killed, 'server')} sales went on after ${formatDuration(ms)}.`,
  'nothing sold without a minority': ({ killed, limitMs }: { killed: number; limitMs: number }) =>
    `Without ${countOf(killed, 'server')} there was no sale within ${formatDuration(limitMs)}, though a majority lived.`,
  'single point of failure': () => 'The lock has one server: it is a single point of failure.',
  'sold without a majority': ({ sold }: { sold: number }) =>
    `${countOf(sold, 'sale')} began and ended while no majority of the servers lived.`,
  'refused without a majority': ({ refused, ms, codes }: { refused: number; ms: number; codes: string[] }) =>
    `Without a majority nobody sold: ${countOf(refused, 'buyer')} had the answer ${listOf(codes)}, in ${formatDuration(ms)} at most.`,
  'no sale after the majority': ({ limitMs }: { limitMs: number }) =>
    `There was no sale within ${formatDuration(limitMs)} of the return of the majority.`,
  'sold after the majority': ({ ms }: { ms: number }) =>
    `After the return of the majority sales flowed again in ${formatDuration(ms)}.`,
  'sales not made': ({ unsold, sales }: { unsold: number; sales: number }) =>
    `${unsold} of ${sales} sales did not take place.`,
  'sales slowed down': ({ ms }: { ms: number }) =>
    `A sale takes ${formatDuration(ms)} longer, as long as a master is away.`,
  'sales kept their pace': ({ ms, slowestMs }: { ms: number; slowestMs: number }) =>
    `Sales took ${formatDuration(ms)} more each, and the slowest ${formatDuration(slowestMs)}.`,

  // The commands of a release.
  'key of its own': ({ key }: { key: string }) =>
    `It keeps something under "${key}": use the key that you are given, and begin the names of further keys with it.`,
  'release without the key': () => 'Its release sends no command with the key of the lock.',
  'each command was late': ({ commands }: { commands: string[] }) =>
    `Each command of the release was late once: ${commands.join(', ')}.`,
  'commands not held': ({ commands }: { commands: number }) =>
    `${countOf(commands, 'command')} after them were not held.`,

  // A load.
  'stock as expected': ({ sold, stock }: { sold: number; stock: number }) =>
    `${formatNumber(sold)} sold · stock ${formatNumber(stock)}, as expected · none sold twice.`,
  'stock not as expected': (of: { sold: number; stock: number; expected: number; soldTwice: number }) =>
    `${formatNumber(of.sold)} sold · stock ${formatNumber(of.stock)}, expected ${formatNumber(of.expected)} · ${formatNumber(of.soldTwice)} sold twice.`,
  'oversold to the last': ({ sold, units, oversold }: { sold: number; units: number; oversold: number }) =>
    `${formatNumber(sold)} sold of ${formatNumber(units)} · stock 0 · ${formatNumber(oversold)} oversold.`,
  oversold: (of: { sold: number; units: number; stock: number; oversold: number }) =>
    `${formatNumber(of.sold)} sold of ${formatNumber(of.units)} · stock ${formatNumber(of.stock)}, expected 0 · ${formatNumber(of.oversold)} oversold.`,
  'holders met': ({ overlaps }: { overlaps: number }) =>
    `Two holders inside at the same moment: ${countOf(overlaps, 'time')}.`,
  'lock unused': ({ ms }: { ms: number }) => `For ${formatDuration(ms)} nobody held the lock although sales waited.`,
  'lock unused and sales refused': ({ ms, refused, sent }: { ms: number; refused: number; sent: number }) =>
    `For ${formatDuration(ms)} nobody held the lock although sales waited. ${formatNumber(refused)} of ${formatNumber(sent)} were refused.`,
  'load too long': ({ ms, answers, requests }: { ms: number; answers: number; requests: number }) =>
    `After ${formatDuration(ms)} ${formatNumber(answers)} of ${formatNumber(requests)} sales were answered: no load may take longer.`,
  'sales in doubt': ({ inDoubt }: { inDoubt: number }) =>
    `${countOf(inDoubt, 'sale')} in doubt, and no fault explains it.`,

  // An account that does not close.
  'not all sent': ({ sent, requests }: { sent: number; requests: number }) =>
    `${sent} requests were sent, not ${requests}.`,
  'not all answered': ({ sent, answers, errors }: { sent: number; answers: number; errors: number }) =>
    `${sent} requests were sent, but ${answers} were answered and ${errors} failed.`,
  'not all received': ({ sent, received }: { sent: number; received: number }) =>
    `${sent} requests were sent, but the nodes counted ${received}.`,
  'not all accounted for': ({ sent, counted }: { sent: number; counted: number }) =>
    `${sent} requests were sent, but ${counted} are accounted for.`,
  'answers made no sense': ({ answers, sample }: { answers: number; sample: string }) =>
    `${answers} answers made no sense, such as: ${sample}`,
  'sales failed': ({ failed }: { failed: number }) =>
    `${failed} sales failed, and no fault explains it: LOG_LEVEL=info shows the log of the nodes.`,
  'too many refused': ({ refused, sent }: { refused: number; sent: number }) =>
    `${refused} of ${sent} sales were refused, because the lock was not free in time.`,
  'events forgotten': ({ events }: { events: number }) =>
    `${events} events were forgotten, so overlaps could not be counted: lower --requests.`,
  'sales in flight': ({ sales }: { sales: number }) => `${sales} sales were still in flight at the end.`,
  'nodes counted others sold': ({ sold, inDoubt, counted }: { sold: number; inDoubt: number; counted: number }) =>
    `${sold} sales were answered and ${inDoubt} are in doubt, but the nodes counted ${counted} sold.`,
  'nodes recorded other writes': ({ counted, written }: { counted: number; written: number }) =>
    `The nodes counted ${counted} sold, but recorded ${written} stock writes.`,
  'stock too low': ({ stock, expected }: { stock: number; expected: number }) =>
    `The stock is ${stock}, lower than the ${expected} that the sales explain.`,
  'losses unexplained': ({ units }: { units: number }) =>
    `${units} units were sold twice, but no two sales read the same stock.`,
  'nothing sold': () => 'Nothing was sold.',
  'nothing sold by': ({ nodes }: { nodes: string[] }) => `Nothing was sold by ${nodes.join(' and ')}.`,
  'sales never met': () => 'No two sales were ever under way at the same moment, so nothing was tested.',

  // What the nodes recorded of an external lock.
  'lock failed': ({ error }: { error: string }) => `No sale took place: ${error}`,
  'lock failed at times': ({ failed, asked, error }: { failed: number; asked: number; error: string }) =>
    `${countOf(failed, 'sale')} of ${formatNumber(asked)} failed: ${error}`,
  'lock given to nobody': () => 'No sale took place: acquire() gave nobody the lock.',
  'most were refused': ({ refused, asked }: { refused: number; asked: number }) =>
    `${formatNumber(refused)} of ${formatNumber(asked)} sales were refused: the lock was not free in time.`,
  'nothing to break': () => 'This lock has nothing that the drill could break.',

  // Drills that were not run, and drills that did not end.
  'nothing to break under': ({ stage }: { stage: string }) => `${stage} has nothing for this drill to break.`,
  'no semaphore': ({ stage }: { stage: string }) => `${stage} is not a semaphore: it lets in one holder at a time.`,
  'takes no lease': ({ stage }: { stage: string }) => `${stage} can't give a sale its own lease.`,
  'locks no user': ({ stage }: { stage: string }) => `${stage} has no lock around the sale that could be per user.`,
  'no masters vote': ({ stage }: { stage: string }) => `${stage} has no masters that vote.`,
  'no memory of its own': () => 'A simulated process has no memory of its own. Run it with `-- --real`.',
  'server not simulated': () => 'The simulation has no such server.',
  'one command sells': () => 'It takes a unit in one command, so no sale is ever between a read and a write.',
  'traffic unreadable': () =>
    'Its connection to MySQL uses TLS or compression, so no sale can be held. Let it connect without, such as with sslMode=DISABLED.',
  'lock elsewhere': () => 'Its lock is not in Redis.',
  'servers not simulated': () => 'The simulation does not have its servers. Run it with `-- --real`.',
  'clock server without a replica': () => 'The embedded Valkey, whose clock can be set, has no replica.',
  'no further': ({ ms }: { ms: number }) => `The drill came no further: for ${formatDuration(ms)} it has said nothing.`,
  'no end': ({ lock }: { lock: string }) => `What was played under ${lock} came to no end.`,
  'machine too busy': ({ ms }: { ms: number }) =>
    `The machine was too busy: for ${formatDuration(ms)} nothing went on.`,
  ...orderReasons,
};

export type ReasonForms = FormsOf<typeof reasons>;
/** A sentence of a verdict. */
export type Reason = Sentence<ReasonForms>;

export const because = <Form extends keyof ReasonForms>(form: Form, ...[values]: Given<ReasonForms[Form]>) =>
  ({ form, values: values ?? {} }) as Reason;

/** The sentence in English. */
export const reasoned = (reason: Reason): string => worded<ReasonForms>(reasons, reason);

/** The sentences of a verdict, as facts and in English: each by itself, or all of them as one text. */
export const explained = (says: Reason[]) => ({ says, reasons: says.map(reasoned) });
export const explainedInOne = (says: Reason[]) => ({ says, reasons: [says.map(reasoned).join(' ')] });

/** Is thrown where the reason has a form; its message is the sentence in English. */
export class ReasonedError extends Error {
  readonly reason: Reason;

  constructor(reason: Reason) {
    super(reasoned(reason));
    this.reason = reason;
  }
}

/** Why a drill did not come to its end, whatever was thrown. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof ReasonedError) return error.reason;
  return because('text', { text: error instanceof Error ? error.message : String(error) });
}
