import autocannon from 'autocannon';
import { z } from 'zod';

const soldSchema = z.object({
  outcome: z.literal('sold'),
  saleId: z.string(),
  node: z.string(),
  stockBefore: z.int(),
  remaining: z.int(),
});
const problemSchema = z.object({ code: z.string(), definite: z.boolean() });

const GIVE_UP_LOOK_MS = 200;

/** A sale as its answer tells it. */
export type SoldAnswer = z.infer<typeof soldSchema> & { latencyMs: number };

/** What became of every request that was sent, counted from the answers alone. */
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
  /** Answers that are neither a sale nor a problem document. One of them, cut short. */
  nonsense: number;
  nonsenseSample: string;
  /** From the first request to the last answer. */
  durationMs: number;
}

export interface LoadOptions {
  url: string;
  requests: number;
  connections: number;
  /** How long a request may take; longer than a sale may wait for its lock. */
  requestLimitMs: number;
  /** Stops the load when no sale has come to its end for so many milliseconds. */
  giveUpMs?: number | undefined;
  /** Stops the load when it aborts. */
  signal: AbortSignal;
  onAnswer: (answers: number) => void;
}

/** Sends `requests` sales over `connections` connections, each connection one after the other. */
export async function sendSales({
  url,
  requests,
  connections,
  requestLimitMs,
  giveUpMs = Number.POSITIVE_INFINITY,
  signal,
  onAnswer,
}: LoadOptions): Promise<Tally> {
  const tally: Tally = {
    sent: 0,
    answers: 0,
    errors: 0,
    sold: [],
    soldOut: 0,
    lockTimeout: 0,
    failed: 0,
    indefinite: 0,
    nonsense: 0,
    nonsenseSample: '',
    durationMs: 0,
  };
  const startedAt = performance.now();
  let lastSaleAt = startedAt;
  // The client builds a request right before it sends it, and has one request under way at a time.
  const request: autocannon.Request = {
    setupRequest(request, context: { sentAt?: number }) {
      tally.sent += 1;
      context.sentAt = performance.now();
      return request;
    },
    onResponse(status, body, context: { sentAt?: number }) {
      const now = performance.now();
      tally.answers += 1;
      tally.durationMs = now - startedAt;
      const ended = () => tally.sold.length + tally.soldOut;
      const endedBefore = ended();
      countAnswer(tally, status, body, now - (context.sentAt ?? now));
      if (ended() > endedBefore) lastSaleAt = now;
      onAnswer(tally.answers);
    },
  };

  let load: autocannon.Instance | undefined;
  const stop = () => load?.stop();
  signal.addEventListener('abort', stop);
  const looking = setInterval(() => performance.now() - lastSaleAt > giveUpMs && stop(), GIVE_UP_LOOK_MS);
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const options = {
      url: `${url}/inventory/sale`,
      method: 'POST',
      amount: requests,
      connections,
      timeout: requestLimitMs / 1000,
      // When every connection has failed once, the rest would fail too.
      bailout: connections,
      requests: [request],
      // The run ends at the next sample, so a short one wastes no time. The types do not know it.
      sampleInt: 50,
    } as autocannon.Options;
    load = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
    if (signal.aborted) stop();
  }).finally(() => {
    signal.removeEventListener('abort', stop);
    clearInterval(looking);
  });
  return { ...tally, errors: result.errors };
}

/** What one answer says. `inDoubt`: it does not say whether the sale took place. */
export type SaleAnswer =
  | { outcome: 'sold'; sale: z.infer<typeof soldSchema> }
  | { outcome: 'soldOut' | 'lockTimeout' | 'failed' | 'inDoubt'; code: string }
  | { outcome: 'nonsense' };

/** Reads the answer to a sale. */
export function readAnswer(status: number, body: string): SaleAnswer {
  const answer = parse(body);
  const sold = soldSchema.safeParse(answer);
  if (status === 200 && sold.success) return { outcome: 'sold', sale: sold.data };
  const problem = problemSchema.safeParse(answer);
  if (status < 400 || !problem.success) return { outcome: 'nonsense' };
  const { code, definite } = problem.data;
  if (!definite) return { outcome: 'inDoubt', code };
  if (code === 'OUT_OF_STOCK') return { outcome: 'soldOut', code };
  return { outcome: code === 'LOCK_WAIT_TIMEOUT' ? 'lockTimeout' : 'failed', code };
}

function countAnswer(tally: Tally, status: number, body: string, latencyMs: number) {
  const answer = readAnswer(status, body);
  if (answer.outcome === 'sold') tally.sold.push({ ...answer.sale, latencyMs });
  else if (answer.outcome === 'inDoubt') tally.indefinite += 1;
  else tally[answer.outcome] += 1;
  if (answer.outcome === 'nonsense') tally.nonsenseSample ||= `${status} ${body.slice(0, 80)}`;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
