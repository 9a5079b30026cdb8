// The wait of a holder for its lock. It ends when the holder has the lock, at its time limit, or when the client hangs up.
//
// A sale in one step waits for no lock, so a wait starts as a deadline that `throwIfOver` compares with the clock. The first use of
// `signal` arms it: a timer, a `close` listener and an AbortSignal, which for a sale in one step would cost a fifth of its CPU.

import type { ServerResponse } from 'node:http';
import { type Chain, createChain, type Link } from '../chain.ts';
import { ProblemError } from '../problem.ts';

/** Who waits for an answer and may hang up: the answer itself. Its `close` without an answer is the hanging up. */
export type Client = Pick<ServerResponse, 'destroyed' | 'on' | 'off'> & { locals?: { requestId?: string } };

export const notFree = (when: string) => new ProblemError('LOCK_WAIT_TIMEOUT', `The lock was not free ${when}.`);
const tooLong = (limitMs: number) => notFree(`within ${limitMs} ms`);
const clientGone = () => new ProblemError('CLIENT_GONE', 'The client disconnected while its sale waited.');

/** All waits of a node. */
export class Waits {
  readonly armed: Chain<Wait> = createChain();
  /** Why all waits were last ended. Each time it is a new object, so a wait that is not armed sees whether that was after it began. */
  endedBecause: ProblemError | undefined;

  end(why: ProblemError) {
    this.endedBecause = why;
    for (const wait of this.armed.all()) wait.abort(why);
  }
}

/**
 * A class, because `signal` is a getter. V8 gives every object literal with a getter a hidden class of its own, which keeps all that the
 * getter closes over alive until the next major collection: that took a quarter of the CPU of a sale.
 */
export class Wait {
  private readonly waits: Waits;
  readonly limitMs: number;
  private readonly client: Client | undefined;
  private readonly until: number;
  private endedBefore: ProblemError | undefined;
  private controller: AbortController | undefined;
  private isOpen = true;
  private link: Link<Wait> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private hangUp: (() => void) | undefined;

  constructor(waits: Waits, limitMs: number, client: Client | undefined) {
    this.waits = waits;
    this.limitMs = limitMs;
    this.client = client;
    this.until = performance.now() + limitMs;
    this.endedBefore = waits.endedBecause;
  }

  /** Aborts when the wait is over; its reason is the error to end with. */
  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      const why = this.whyOver();
      if (why !== undefined) this.controller.abort(why);
      else if (this.isOpen) this.arm();
    }
    return this.controller.signal;
  }

  throwIfOver() {
    if (this.controller !== undefined) return this.controller.signal.throwIfAborted();
    const why = this.whyOver();
    if (why !== undefined) throw why;
  }

  abort(why: ProblemError) {
    this.controller?.abort(why);
  }

  /** The wait has succeeded: nothing aborts it any more, unless it begins again. */
  end() {
    this.isOpen = false;
    if (this.link === undefined) return;
    this.waits.armed.remove(this.link);
    this.link = undefined;
    clearTimeout(this.timer);
    if (this.hangUp) this.client?.off('close', this.hangUp);
  }

  beginAgain() {
    this.isOpen = true;
    this.endedBefore = this.waits.endedBecause;
    if (this.controller !== undefined) this.arm();
  }

  private arm() {
    this.link = this.waits.armed.add(this);
    this.timer = setTimeout(timeOut, this.until - performance.now(), this);
    this.hangUp ??= () => this.abort(clientGone());
    if (this.client?.destroyed) this.hangUp();
    this.client?.on('close', this.hangUp);
  }

  private whyOver(): ProblemError | undefined {
    if (!this.isOpen) return undefined;
    const { endedBecause } = this.waits;
    if (endedBecause !== this.endedBefore) return endedBecause;
    if (this.client?.destroyed) return clientGone();
    return performance.now() >= this.until ? tooLong(this.limitMs) : undefined;
  }
}

function timeOut(wait: Wait) {
  wait.abort(tooLong(wait.limitMs));
}
