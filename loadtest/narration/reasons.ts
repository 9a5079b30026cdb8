// English sentences for the reasons of a verdict, one per form. The Chinese is in reasons.zh.ts.

import { type FormsOf, type Given, type Sentence, worded } from '../../simulation/wording.ts';
import { countOf, formatDuration, formatMeasure, formatNumber, listOf } from './numbers.ts';
import { orderReasons } from './order-reasons.ts';

export const reasons = {
  /** A sentence without a form of its own. */
  text: ({ text }: { text: string }) => text,
  /** What a scenario file says about its verdict. */
  page: ({ text }: { text: string; zh?: string | undefined }) => text,

  // The stock.
  'met and lost nothing': ({ pairs }: { pairs: number }) =>
    `Two sales read the stock at the same moment: ${countOf(pairs, 'pair')}. No unit was sold twice: the later write was refused or tried again.`,
  'sold without a write': ({ sales }: { sales: number }) =>
    `${countOf(sales, 'buyer was', 'buyers were')} sold a unit that no write took from the stock.`,
  'units to nobody': ({ units, sold, gone, answer }: { units: number; sold: number; gone: number; answer: string }) =>
    `${countOf(units, 'unit')} went to nobody: ${sold} responses say sold, but ${gone} units are gone. Other responses say "${answer}".`,
  'stock below zero': ({ stock }: { stock: number }) => `The stock is ${stock}: more units were taken than there were.`,
  'others answered': ({ others, answer }: { others: number; answer: string }) =>
    `${countOf(others, 'other response')}, such as "${answer}".`,
  'stock too high': ({ stock, most }: { stock: number; most: number }) =>
    `The stock is ${stock}, but should be at most ${most}.`,
  'units sold to nobody': ({ units }: { units: number }) =>
    `${countOf(units, 'unit was', 'units were')} sold to clients that had disconnected.`,
  'buyers in doubt': ({ inDoubt, buyers }: { inDoubt: number; buyers: number }) =>
    `${inDoubt} of ${buyers} buyers do not know whether they bought a unit.`,

  // Who was inside.
  'two were inside': ({ pairs }: { pairs: number }) =>
    `Two holders were inside at the same moment: ${countOf(pairs, 'pair')}.`,
  'too many inside': ({ most, permits }: { most: number; permits: number }) =>
    `${countOf(most, 'holder was', 'holders were')} inside at the same moment, with only ${countOf(permits, 'permit')}.`,
  'too few inside': ({ most, permits }: { most: number; permits: number }) =>
    `At most ${countOf(most, 'holder was', 'holders were')} inside at the same moment, with ${countOf(permits, 'permit')}.`,
  'permits taken': ({ permits }: { permits: number }) =>
    `${countOf(permits, 'holder was', 'holders were')} inside at the same moment, and never more.`,
  'permit not back': ({ node, ms }: { node: string; ms: number }) =>
    `After ${formatDuration(ms)}, ${node} still could not acquire the last permit.`,
  'got in beside': ({ sale, other }: { sale: string; other: string }) => `${sale} entered while ${other} was inside.`,
  'was kept out': ({ sale, other }: { sale: string; other: string }) =>
    `${sale} did not enter while ${other} was inside, although its user is another one.`,
  overtaken: ({ overtaken, waiters, order }: { overtaken: number; waiters: number; order: number[] }) =>
    `${overtaken} of ${waiters} waiters were overtaken. They entered in the order ${order.join(', ')}.`,
  starved: ({ others }: { others: number }) =>
    `${countOf(others, 'later arrival')} entered first, and nothing limits how many more do.`,
  'went in': ({ sale, others }: { sale: string; others: number }) =>
    `${sale} entered ${others === 0 ? 'before every later arrival' : `after ${countOf(others, 'later arrival')}`}.`,
  'free lock not entered': ({ node, ms }: { node: string; ms: number }) =>
    `The lock was free, but the sale on ${node} did not enter within ${formatDuration(ms)}.`,

  // Whether a sale took place, and when.
  'could not sell': ({ node, ms }: { node: string; ms: number }) =>
    `${node} could not sell within ${formatDuration(ms)}.`,
  'sold after the fault': ({ node, ms }: { node: string; ms: number }) =>
    `${node} sold ${formatDuration(ms)} after the fault.`,
  'was sold': ({ sale, ms }: { sale: string; ms: number }) => `${sale} succeeded within ${formatDuration(ms)}.`,
  'was not sold': ({ sale, ms }: { sale: string; ms: number }) =>
    `${sale} did not succeed within ${formatDuration(ms)}.`,
  'was answered': ({ sale, ms }: { sale: string; ms: number }) =>
    `${sale} got its response after ${formatDuration(ms)}.`,
  'waited for itself': ({ sale, ms }: { sale: string; ms: number }) =>
    `${sale} waited for its own lock: after ${formatDuration(ms)} it had not sold.`,
  'waited for its own lease': ({ sale, ms }: { sale: string; ms: number }) =>
    `${sale} waited for its own lock until its own lease had ended, after ${formatDuration(ms)}.`,

  // Clients that disconnect, and the cost of waiting.
  'waiters left': ({ ms }: { ms: number }) => `After ${formatDuration(ms)} no sale waited any more.`,
  'waiters stayed': ({ sales, ms }: { sales: number; ms: number }) =>
    `${countOf(sales, 'sale')} still waited ${formatDuration(ms)} after the clients had disconnected.`,
  'a try keeps': ({ bytesPerTry, tries }: { bytesPerTry: number; tries: number }) =>
    `Each failed try keeps ${formatMeasure(bytesPerTry)} bytes in memory: ${formatNumber(tries)} tries, ${formatNumber((bytesPerTry * tries) / 1024)} kB.`,

  // Readers of the stock.
  'answered too early': (of: { node: string; stock: number; sale: string; seller: string }) =>
    `${of.node} returned stock ${of.stock} while sale ${of.sale} on ${of.seller} was between its read and its write.`,
  'answered an old stock': (of: { node: string; stock: number; sale: string; written: number }) =>
    `${of.node} returned stock ${of.stock}, but sale ${of.sale} had already written ${of.written}.`,
  'looker waited': () => 'The reader waited for the sale.',
  'looker waited for a looker': ({ node, other }: { node: string; other: string }) =>
    `A reader waits for other readers: ${node} waited for ${other}.`,
  'two looked at once': () => 'Two readers were inside at the same moment.',
  'entered while another looked': ({ node, reader }: { node: string; reader: string }) =>
    `A sale entered on ${node} while ${reader} was about to read the stock.`,

  // Two skus.
  'baskets crossed': ({ baskets, ms }: { baskets: number; ms: number }) =>
    `${countOf(baskets, 'basket was', 'baskets were')} not sold in ${formatDuration(ms)}: each had the lock that the other waited for.`,
  'baskets not sold': ({ baskets, ms, answers }: { baskets: number; ms: number; answers: string[] }) =>
    `${countOf(baskets, 'basket was', 'baskets were')} not sold in ${formatDuration(ms)}. The sales ended with ${listOf(answers)}.`,
  'crossed baskets sold': ({ sales }: { sales: string[] }) =>
    `${listOf(sales)} succeeded, although each had a lock that the other needed.`,
  'baskets sold in turn': ({ sales }: { sales: string[] }) => `${listOf(sales)} succeeded, one after the other.`,
  'stocks of baskets': ({ sold, stocks, expected }: { sold: number; stocks: number[]; expected: number }) =>
    `${sold} baskets were sold. The stock is ${listOf(stocks.map(String))}, but should be ${expected}.`,

  // Servers that are unavailable.
  'requests cut off': ({ requests }: { requests: number }) =>
    `${countOf(requests, 'request')} lost the connection or got a response that made no sense.`,
  'an answer took': ({ ms, limitMs }: { ms: number; limitMs: number }) =>
    `During the outage a buyer waited ${formatDuration(ms)} for a response. The limit is ${formatDuration(limitMs)}.`,
  'slowest answer': ({ ms }: { ms: number }) => `During the outage a response took at most ${formatDuration(ms)}.`,
  'no sale after SIGSTOP': ({ limitMs }: { limitMs: number }) =>
    `Redis was paused (SIGSTOP), and nothing was sold within ${formatDuration(limitMs)} after it resumed.`,
  'no sale after SIGKILL': ({ limitMs }: { limitMs: number }) =>
    `Redis was killed (SIGKILL), and nothing was sold within ${formatDuration(limitMs)} after it restarted.`,
  'key stayed': ({ key, ms }: { key: string; ms: number | null }) =>
    `The key ${key} was left with ${ms === null ? 'no TTL' : `a TTL of ${formatDuration(ms)}`}.`,
  'sales flowed again': ({ ms }: { ms: number }) => `Sales resumed ${formatDuration(ms)} after Redis was back.`,
  'sold without a minority': ({ killed, ms }: { killed: number; ms: number }) =>
    `With ${countOf(killed, 'server')} down, sales resumed after ${formatDuration(ms)}.`,
  'nothing sold without a minority': ({ killed, limitMs }: { killed: number; limitMs: number }) =>
    `With ${countOf(killed, 'server')} down, nothing was sold within ${formatDuration(limitMs)}, although a majority was up.`,
  'single point of failure': () => 'The lock has one server: it is a single point of failure.',
  'sold without a majority': ({ sold }: { sold: number }) =>
    `${countOf(sold, 'sale')} started and succeeded while no majority of the servers was up.`,
  'refused without a majority': ({ refused, ms, codes }: { refused: number; ms: number; codes: string[] }) =>
    `Without a majority nothing was sold: ${countOf(refused, 'buyer')} got ${listOf(codes)}, after at most ${formatDuration(ms)}.`,
  'no sale after the majority': ({ limitMs }: { limitMs: number }) =>
    `Nothing was sold within ${formatDuration(limitMs)} after the majority was back.`,
  'sold after the majority': ({ ms }: { ms: number }) =>
    `Sales resumed ${formatDuration(ms)} after the majority was back.`,
  'sales not made': ({ unsold, sales }: { unsold: number; sales: number }) => `${unsold} of ${sales} sales failed.`,
  'sales slowed down': ({ ms }: { ms: number }) =>
    `A sale takes ${formatDuration(ms)} longer while a master is unavailable.`,
  'sales kept their pace': ({ ms, slowestMs }: { ms: number; slowestMs: number }) =>
    `Each sale took ${formatDuration(ms)} longer, and the slowest took ${formatDuration(slowestMs)}.`,

  // The commands of a release.
  'key of its own': ({ key }: { key: string }) =>
    `The lock stores data under "${key}". Use the key that it is given, and start the name of every other key with it.`,
  'release without the key': () => 'The release sends no command that names the key of the lock.',
  'each command was late': ({ commands }: { commands: string[] }) =>
    `Each command of the release was delayed once: ${commands.join(', ')}.`,
  'commands not held': ({ commands }: { commands: number }) =>
    `${countOf(commands, 'later command was', 'later commands were')} not delayed.`,

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
  'lock unused': ({ ms }: { ms: number }) =>
    `Nobody held the lock for ${formatDuration(ms)}, although sales were waiting.`,
  'lock unused and sales refused': ({ ms, refused, sent }: { ms: number; refused: number; sent: number }) =>
    `Nobody held the lock for ${formatDuration(ms)}, although sales were waiting. ${formatNumber(refused)} of ${formatNumber(sent)} sales were refused.`,
  'load too long': ({ ms, answers, requests }: { ms: number; answers: number; requests: number }) =>
    `The load was stopped at its limit of ${formatDuration(ms)}: ${formatNumber(answers)} of ${formatNumber(requests)} sales had a response.`,
  'sales in doubt': ({ inDoubt }: { inDoubt: number }) =>
    `${countOf(inDoubt, 'sale is', 'sales are')} in doubt, and no fault explains why.`,

  // Counts that do not add up.
  'not all sent': ({ sent, requests }: { sent: number; requests: number }) =>
    `${sent} requests were sent instead of ${requests}.`,
  'not all answered': ({ sent, answers, errors }: { sent: number; answers: number; errors: number }) =>
    `${sent} requests were sent, but ${answers} got a response and ${errors} failed.`,
  'not all received': ({ sent, received }: { sent: number; received: number }) =>
    `${sent} requests were sent, but the nodes counted ${received}.`,
  'not all accounted for': ({ sent, counted }: { sent: number; counted: number }) =>
    `${sent} requests were sent, but ${counted} are accounted for.`,
  'answers made no sense': ({ answers, sample }: { answers: number; sample: string }) =>
    `${answers} responses made no sense, such as: ${sample}`,
  'sales failed': ({ failed }: { failed: number }) =>
    `${failed} sales failed, and no fault explains why. LOG_LEVEL=info shows the log of the nodes.`,
  'too many refused': ({ refused, sent }: { refused: number; sent: number }) =>
    `${refused} of ${sent} sales were refused, because they did not get the lock in time.`,
  'events forgotten': ({ events }: { events: number }) =>
    `${events} events were dropped, so overlaps could not be counted. Lower --requests.`,
  'sales in flight': ({ sales }: { sales: number }) => `${sales} sales were still in flight at the end.`,
  'nodes counted others sold': ({ sold, inDoubt, counted }: { sold: number; inDoubt: number; counted: number }) =>
    `${sold} sales succeeded and ${inDoubt} are in doubt, but the nodes counted ${counted} sales.`,
  'nodes recorded other writes': ({ counted, written }: { counted: number; written: number }) =>
    `The nodes counted ${counted} sales, but recorded ${written} stock writes.`,
  'stock too low': ({ stock, expected }: { stock: number; expected: number }) =>
    `The stock is ${stock}, lower than the ${expected} that the sales explain.`,
  'losses unexplained': ({ units }: { units: number }) =>
    `${units} units were sold twice, but no two sales read the same stock.`,
  'nothing sold': () => 'Nothing was sold.',
  'nothing sold by': ({ nodes }: { nodes: string[] }) => `${nodes.join(' and ')} sold nothing.`,
  'sales never met': () => 'No two sales were ever in progress at the same moment, so nothing was tested.',

  // What the nodes recorded of an external lock.
  'lock failed': ({ error }: { error: string }) => `No sale succeeded: ${error}`,
  'lock failed at times': ({ failed, asked, error }: { failed: number; asked: number; error: string }) =>
    `${countOf(failed, 'sale')} of ${formatNumber(asked)} failed: ${error}`,
  'lock given to nobody': () => 'No sale succeeded: acquire() gave nobody the lock.',
  'most were refused': ({ refused, asked }: { refused: number; asked: number }) =>
    `${formatNumber(refused)} of ${formatNumber(asked)} sales were refused: they did not get the lock in time.`,
  'nothing to break': () => 'This lock has nothing for the drill to break.',

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
  'no further': ({ ms }: { ms: number }) => `The drill is stuck: it has made no progress for ${formatDuration(ms)}.`,
  'no end': ({ lock }: { lock: string }) => `The drill under ${lock} did not end.`,
  'machine too busy': ({ ms }: { ms: number }) => `The machine was too busy: nothing ran for ${formatDuration(ms)}.`,
  ...orderReasons,
};

export type ReasonForms = FormsOf<typeof reasons>;
/** A sentence of a verdict. */
export type Reason = Sentence<ReasonForms>;

export const because = <Form extends keyof ReasonForms>(form: Form, ...[values]: Given<ReasonForms[Form]>) =>
  ({ form, values: values ?? {} }) as Reason;

/** The sentence in English. */
export const reasoned = (reason: Reason): string => worded<ReasonForms>(reasons, reason);

/** The sentences of a verdict, as facts and in English: one by one, or joined into one text. */
export const explained = (says: Reason[]) => ({ says, reasons: says.map(reasoned) });
export const explainedInOne = (says: Reason[]) => ({ says, reasons: [says.map(reasoned).join(' ')] });

/** An error whose reason has a form. Its message is the English sentence. */
export class ReasonedError extends Error {
  readonly reason: Reason;

  constructor(reason: Reason) {
    super(reasoned(reason));
    this.reason = reason;
  }
}

/** The reason in whatever was thrown: why a drill did not finish. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof ReasonedError) return error.reason;
  return because('text', { text: error instanceof Error ? error.message : String(error) });
}
