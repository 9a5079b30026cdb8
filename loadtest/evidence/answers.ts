// The responses to the clients of sales, one by one and counted.

import { z } from 'zod';

const soldSchema = z.object({
  outcome: z.literal('sold'),
  saleId: z.string(),
  node: z.string(),
  stockBefore: z.int(),
  remaining: z.int(),
  bucket: z.int().optional(),
});
const basketSoldSchema = soldSchema.pick({ outcome: true, saleId: true, node: true }).extend({
  skus: z.array(z.object({ sku: z.string(), stockBefore: z.int(), remaining: z.int() })),
});
const remainingSchema = z.object({ remaining: z.int() });
const problemSchema = z.object({ code: z.string(), definite: z.boolean() });

/** What a response says. `inDoubt`: it does not say whether the sale took place. */
export type SaleAnswer = { outcome: 'sold'; sale?: Sold } | NotSold;

/** What the response to a basket says. */
export type BasketAnswer = { outcome: 'sold'; sale: z.infer<typeof basketSoldSchema> } | NotSold;

/** What the response to a request for the stock says. */
export type LookAnswer = { outcome: 'looked'; remaining: number } | NotSold;

type NotSold = { outcome: 'soldOut' | 'lockTimeout' | 'failed' | 'inDoubt'; code: string } | { outcome: 'nonsense' };

/** How a single sale ended for its client, who may have disconnected. `sentAt` is on the clock that all processes of the host share. */
export type SaleEnd = Ended<SaleAnswer>;
export type Ended<Answer> = (Answer | { outcome: 'cutOff' }) & { sentAt: number; ms: number };

/** What our own nodes say about a unit that they sold. */
export type Sold = z.infer<typeof soldSchema>;

/** A response that says that a unit was sold, with more details if there are any. */
export interface SoldAnswer {
  latencyMs: number;
  sale?: Sold | undefined;
}

/** The outcome of every request of a load, counted from the responses alone. */
export interface Tally {
  sent: number;
  answers: number;
  /** Requests that timed out or whose connection broke. */
  errors: number;
  sold: SoldAnswer[];
  soldOut: number;
  lockTimeout: number;
  failed: number;
  /** Answers that do not say whether the sale took place. */
  indefinite: number;
  /** Answers that are neither a sale nor a problem document. */
  nonsense: number;
  /** The first answer of each kind, cut short. */
  samples: Partial<Record<SaleAnswer['outcome'], string>>;
  /** From the first request to the last answer. */
  durationMs: number;
  /** The load took longer than it may, and was stopped. */
  isCapped: boolean;
}

/** What reads an answer that is as it should be, and a problem otherwise. */
function readerOf<Body, Answer>(schema: z.ZodType<Body>, answerOf: (body: Body) => Answer) {
  return (status: number, body: string): Answer | NotSold => {
    const answer = parsedOrNothing(body);
    const read = schema.safeParse(answer);
    return status === 200 && read.success ? answerOf(read.data) : readProblem(status, answer);
  };
}

/** These parse the response to a sale, to a basket, and to a request for the stock. */
export const readAnswer = readerOf(soldSchema, (sale): SaleAnswer => ({ outcome: 'sold', sale }));
export const readBasketAnswer = readerOf(basketSoldSchema, (sale): BasketAnswer => ({ outcome: 'sold', sale }));
export const readLookAnswer = readerOf(remainingSchema, (looked): LookAnswer => ({ outcome: 'looked', ...looked }));

function readProblem(status: number, answer: unknown): NotSold {
  const problem = problemSchema.safeParse(answer);
  if (status < 400 || !problem.success) return { outcome: 'nonsense' };
  const { code, definite } = problem.data;
  if (!definite) return { outcome: 'inDoubt', code };
  if (code === 'OUT_OF_STOCK') return { outcome: 'soldOut', code };
  return { outcome: code === 'LOCK_WAIT_TIMEOUT' ? 'lockTimeout' : 'failed', code };
}

/** Adds a response to the tally. */
export function countAnswer(tally: Tally, answer: SaleAnswer, latencyMs: number, text: string) {
  if (answer.outcome === 'sold') tally.sold.push({ sale: answer.sale, latencyMs });
  else if (answer.outcome === 'inDoubt') tally.indefinite += 1;
  else tally[answer.outcome] += 1;
  tally.samples[answer.outcome] ??= text.slice(0, 84).trim();
}

/** The sales of a load whose responses had all details. */
export const soldIn = ({ sold }: Tally): Sold[] => sold.flatMap(({ sale }) => sale ?? []);

/** Requests without a response, and responses that do not say whether the sale took place. */
export function inDoubtOf({ sent, answers, indefinite, nonsense }: Tally): number {
  return Math.max(0, sent - answers) + indefinite + nonsense;
}

/** Parses JSON. Undefined if the text is not JSON. */
export function parsedOrNothing(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
