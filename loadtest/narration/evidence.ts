// What was seen that shows why a verdict is what it is: evidence as facts, and in English. The Chinese is in evidence.zh.ts.

import { type FormsOf, type Given, type Sentence, worded } from '../../simulation/wording.ts';
import { countOf, formatDuration, formatSeconds } from './numbers.ts';

interface OfSale {
  node: string;
  saleId: string;
}

/** A sale, with the moment at which it read the stock where that is known. */
export interface Reader extends OfSale {
  readMs?: number | undefined;
}

/** How a sentence names a sale: `sale 0001 on node-1`. */
export const nameOf = ({ node, saleId }: OfSale) => `sale ${saleId} on ${node}`;

const readerIn = ({ readMs, ...sale }: Reader) =>
  readMs === undefined ? nameOf(sale) : `${nameOf(sale)} (at ${formatSeconds(readMs)})`;
const stockIn = ({ stock, bucket }: { stock: number; bucket?: number | undefined }) =>
  bucket === undefined ? stock : `${stock} of bucket ${bucket}`;

export const sights = {
  /** What has no form of its own. */
  text: ({ text }: { text: string }) => text,

  // Of a load, and of a drill that goes step by step. Times are milliseconds since it began.
  'two read the same stock': (of: { stock: number; bucket?: number | undefined; readers: [Reader, Reader] }) =>
    `${of.readers.map(readerIn).join(' and ')} both read stock ${stockIn(of)}`,
  'many read the same stock': (of: {
    stock: number;
    bucket?: number | undefined;
    readers: [Reader, Reader];
    others: number;
  }) => `${of.readers.map(readerIn).join(', ')} and ${countOf(of.others, 'other sale')} all read stock ${stockIn(of)}`,
  'two were inside': (of: {
    first: OfSale;
    second: OfSale;
    bucket?: number | undefined;
    fromMs: number;
    /** Absent when neither left. */
    untilMs?: number | undefined;
  }) => {
    const where = of.bucket === undefined ? 'inside' : `inside of bucket ${of.bucket}`;
    const time = of.untilMs === undefined ? 'on, and neither left' : `to ${formatSeconds(of.untilMs)}`;
    return `${nameOf(of.first)} and ${nameOf(of.second)} were both ${where}, from ${formatSeconds(of.fromMs)} ${time}`;
  },
  'nobody was inside': (of: { fromMs: number; untilMs: number; first?: OfSale | undefined; others: number }) => {
    const who = of.first === undefined ? 'sales' : nameOf(of.first);
    const and = of.others > 0 ? ` and ${countOf(of.others, 'other sale')}` : '';
    return `From ${formatSeconds(of.fromMs)} to ${formatSeconds(of.untilMs)} nobody was inside, although ${who}${and} waited`;
  },
  'waited and was refused': ({ sale, ms }: { sale: OfSale; ms: number }) =>
    `${nameOf(sale)} waited ${formatDuration(ms)} and was refused`,
  'went in after a later one': ({ sale, ahead }: { sale: OfSale; ahead: OfSale }) =>
    `${nameOf(sale)} asked before ${nameOf(ahead)}, but entered after it`,

  // Of the orders.
  'unit came back': ({ order, times }: { order: string; times: number }) =>
    times === 0
      ? `the unit of order ${order} was never restored`
      : `the unit of order ${order} was restored ${times} times`,
  'tick began meanwhile': ({ tick, ms }: { tick: number; ms: number }) =>
    `run ${tick} started ${formatDuration(ms)} after run 1, which had not finished`,
  'tick began late': ({ tick, ms }: { tick: number; ms: number }) =>
    `late run ${tick} started ${formatDuration(ms)} after its time`,
  'order nobody learns of': ({ order, node }: { order: string; node: string }) =>
    `order ${order} was created on ${node}, but no repeated request gets it`,
  'order made': ({ order, node, sale }: { order: string; node: string; sale: string }) =>
    `order ${order}, created by sale ${sale} on ${node}`,
  'order not refunded': ({ order }: { order: string }) => `order ${order} was paid, but there is no refund of it`,
  refund: ({ payment, order }: { payment: string; order: string }) => `payment ${payment}: a refund of order ${order}`,
  'message pays': ({ message, order }: { message: string; order: string }) =>
    `message ${message} pays for order ${order}`,
  payment: ({ payment, order }: { payment: string; order: string }) => `payment ${payment} of order ${order}`,
  'sale took a unit': ({ sale, isHeld }: { sale: string; isHeld: boolean }) =>
    `${sale} took a unit: ${isHeld ? 'it wrote to MySQL' : 'its response was 200'}`,
  'stores have': ({ mysql, redis }: { mysql: number; redis?: number | undefined }) =>
    `MySQL has ${mysql}, Redis ${redis ?? 'none'}`,
  'nobody bought': ({ mysql }: { mysql: number }) => `no unit was sold, although MySQL had ${mysql}`,
};

export type SightForms = FormsOf<typeof sights>;
/** A sentence of the evidence. */
export type Sight = Sentence<SightForms>;

export const seen = <Form extends keyof SightForms>(form: Form, ...[values]: Given<SightForms[Form]>) =>
  ({ form, values: values ?? {} }) as Sight;

/** The sentence in English, without the full stop. */
export const described = (sight: Sight): string => worded<SightForms>(sights, sight);
