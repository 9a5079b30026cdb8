import { ProblemError } from '../problem.ts';
import type { SaleScript } from './contract.ts';
import { createHeld } from './held.ts';

export type SaleScripts = ReturnType<typeof createSaleScripts>;
export type SalePart = ReturnType<SaleScripts['forSale']>;

type CallNested = (by: 'the same object' | 'another object', releases: boolean) => Promise<void>;

const unscripted: SaleScript = {};

/** The script that a drill sets for the next sales of this node. Without a script they just sell. */
export function createSaleScripts() {
  const held = createHeld();
  let script: SaleScript = {};
  let scriptedSales = 0;

  function take(): SaleScript {
    if (scriptedSales === 0 || held.isEnding()) return unscripted;
    scriptedSales -= 1;
    return script;
  }

  /** The part of one sale. It takes a script when it first comes between read and write, and follows it once. */
  class Part {
    private own: SaleScript | undefined;

    /** Undefined when there is nothing to follow. `callNested` asks for the lock again, where there is one to ask for. */
    inside(callNested?: CallNested): Promise<void> | undefined {
      // A sale that begins again after a conflict has had its script.
      if (this.own !== undefined) return undefined;
      this.own = take();
      return this.own === unscripted ? undefined : follow(this.own, callNested);
    }

    async before(step: 'order' | 'answer') {
      if (step === 'order' ? this.own?.beforeOrder : this.own?.beforeAnswer) await held.untilResumed();
    }
  }

  async function follow(own: SaleScript, callNested?: CallNested) {
    if (own.beforeNestedCall) await held.untilResumed();
    const { nestedCall, forgetsRelease = false } = own;
    if (nestedCall) await callNested?.(nestedCall === true ? 'the same object' : nestedCall, !forgetsRelease);
    if (own.pauseMs !== undefined) await held.pause(own.pauseMs);
    if (own.untilResumed) await held.untilResumed();
    if (own.blockMs !== undefined) blockEventLoop(own.blockMs);
    if (own.fails) throw new ProblemError('ORDER_FAILED', "The sale's script makes it fail.");
  }

  return {
    set(next: SaleScript) {
      script = next;
      scriptedSales = next.times ?? 1;
    },
    clear() {
      scriptedSales = 0;
    },
    resume: held.resume,
    held: held.count,
    end: held.end,
    forSale: () => new Part(),
  };
}

/** Blocks this process like a computation would, but without keeping a core from the other nodes. */
function blockEventLoop(ms: number) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
