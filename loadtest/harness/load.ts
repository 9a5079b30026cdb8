// A load: many sales over many connections, counted.

import { countAnswer, type Tally } from '../evidence/answers.ts';
import { sharedClock, startTimer, stopTimer, type Timer } from './clock.ts';
import { network } from './network.ts';

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
  const startedAt = sharedClock();
  let lastSaleAt = startedAt;
  const load = network().startLoad({
    url: `${url}/inventory/sale`,
    requests,
    connections,
    requestLimitMs,
    onSend() {
      tally.sent += 1;
      return { sentAt: sharedClock() };
    },
    onAnswer(status, body, { sentAt }) {
      const now = sharedClock();
      tally.answers += 1;
      tally.durationMs = now - startedAt;
      const ended = () => tally.sold.length + tally.soldOut;
      const endedBefore = ended();
      countAnswer(tally, status, body, now - sentAt);
      if (ended() > endedBefore) lastSaleAt = now;
      onAnswer(tally.answers);
    },
  });

  let looking: Timer;
  const look = () => {
    const now = sharedClock();
    if (now - startedAt > capMs) tally.isCapped = true;
    if (tally.isCapped || now - lastSaleAt > giveUpMs) load.stop();
    looking = startTimer(look, GIVE_UP_LOOK_MS);
  };
  looking = startTimer(look, GIVE_UP_LOOK_MS);
  signal.addEventListener('abort', load.stop);
  if (signal.aborted) load.stop();
  const { errors } = await load.ended.finally(() => {
    signal.removeEventListener('abort', load.stop);
    stopTimer(looking);
  });
  return { ...tally, errors };
}
