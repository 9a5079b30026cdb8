import type { Request, Response } from 'express';
import { answerJson } from '../../answer.ts';
import { ProblemError } from '../../problem.ts';
import { createOnce as inProcess } from './in-process.ts';
import { readKey } from './key.ts';
import { createOnce as lock } from './lock.ts';
import { createOnce as none } from './none.ts';
import { forgetOldKeys } from './old-keys.ts';
import type { CreateOnce, Once, OnceOptions, Work } from './once.ts';
import { createOnce as table } from './table.ts';

/** Every strategy by its name, in the order of the lesson. The name is also its file. */
export const strategies = { none, 'in-process': inProcess, lock, table } satisfies Record<string, CreateOnce>;
export type Idempotency = keyof typeof strategies;

/** How often a node looks for keys that have been kept for long enough, in milliseconds. */
const FORGET_EVERY_MS = { min: 1_000, max: 60_000 };

export interface AnswersOptions extends OnceOptions {
  idempotency: Idempotency;
  /** Whether a request without a key is refused. */
  isRequired: boolean;
  /** What is done with keys instead of the strategy, in a lab. */
  external?: Once | undefined;
}

export type Answers = ReturnType<typeof createAnswers>;

/** Answers the requests that may carry a key: the work is done once for each key, as far as the strategy goes. */
export function createAnswers({ idempotency, isRequired, external, ...options }: AnswersOptions) {
  const once = external ?? strategies[idempotency](options);
  const forgetting = idempotency === 'table' ? keepForgetting(options) : undefined;
  const underWay = new Set<Promise<unknown>>();

  /** The fingerprint says what is asked for. Rejects as the work does, or with ProblemError. */
  async function answer(request: Request, response: Response, fingerprint: string, work: Work): Promise<void> {
    const header = request.get('Idempotency-Key');
    if (header === undefined) {
      if (isRequired) throw new ProblemError('IDEMPOTENCY_KEY_MISSING', 'Send the header Idempotency-Key.');
      answerJson(response, await work());
      return;
    }
    const { status, body, isRepeat } = await once({ key: readKey(header), fingerprint }, (keep) =>
      // What is kept is what the first request is answered, to the byte.
      work(keep).catch((error) => {
        if (error instanceof ProblemError) error.problem.requestId = response.locals['requestId'];
        throw error;
      }),
    );
    if (isRepeat) response.set('Idempotent-Replayed', 'true');
    response
      .status(status)
      .type(status < 400 ? 'application/json' : 'application/problem+json')
      .send(body);
  }

  return {
    /** For work that comes with a key, and not as a request of a client. */
    once,
    /** Has a stopping node wait for the answer. */
    async answer(...args: Parameters<typeof answer>): Promise<void> {
      const answered = answer(...args);
      underWay.add(answered);
      await answered.finally(() => underWay.delete(answered));
    },
    /** How many requests are being answered: the sale of one may be over, and its answer not kept yet. */
    underWay: () => underWay.size,
    /** Resolves when no answer is under way. */
    async ended() {
      clearInterval(forgetting);
      await Promise.allSettled(underWay);
    },
  };
}

function keepForgetting({ orders, keepMs }: OnceOptions) {
  if (orders === undefined) return undefined;
  const everyMs = Math.min(Math.max(keepMs, FORGET_EVERY_MS.min), FORGET_EVERY_MS.max);
  // While MySQL is away they remain, until it is back.
  return setInterval(() => void forgetOldKeys(orders).catch(() => {}), everyMs);
}
