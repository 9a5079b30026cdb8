// A load: many sales over many connections, counted.

import autocannon from 'autocannon';
import { countAnswer, type Tally } from '../evidence/answers.ts';

const GIVE_UP_LOOK_MS = 200;

export interface LoadOptions {
  url: string;
  requests: number;
  connections: number;
  /** How long a request may take; longer than a sale may wait for its lock. */
  requestLimitMs: number;
  /** Stops the load when no sale has come to its end for so many milliseconds. */
  giveUpMs?: number | undefined;
  /** Stops the load after so many milliseconds. */
  capMs?: number | undefined;
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
  capMs = Number.POSITIVE_INFINITY,
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
    isCapped: false,
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
  const looking = setInterval(() => {
    const now = performance.now();
    if (now - startedAt > capMs) tally.isCapped = true;
    if (tally.isCapped || now - lastSaleAt > giveUpMs) stop();
  }, GIVE_UP_LOOK_MS);
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
