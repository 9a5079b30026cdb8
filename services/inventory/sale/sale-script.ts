import { ProblemError } from '../problem.ts';
import type { SaleScript } from './contract.ts';
import { createHeld } from './held.ts';

export type SaleScripts = ReturnType<typeof createSaleScripts>;

/** The script that a drill sets for the next sales of this node. Without a script they just sell. */
export function createSaleScripts() {
  const held = createHeld();
  let script: SaleScript = {};
  let scriptedSales = 0;

  function take(): SaleScript {
    if (scriptedSales === 0 || held.isEnding()) return {};
    scriptedSales -= 1;
    return script;
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
    /** One sale's part. It takes a script when it first gets between read and write, and follows it once. */
    forSale() {
      let own: SaleScript | undefined;
      return {
        /** `callNested` acquires the lock again, if there is one. */
        async inside(callNested?: (by: 'the same object' | 'another object', releases: boolean) => Promise<void>) {
          // A sale that begins again after a conflict has had its script.
          if (own !== undefined) return;
          own = take();
          if (own.beforeNestedCall) await held.untilResumed();
          const { nestedCall, forgetsRelease = false } = own;
          if (nestedCall) await callNested?.(nestedCall === true ? 'the same object' : nestedCall, !forgetsRelease);
          if (own.pauseMs !== undefined) await held.pause(own.pauseMs);
          if (own.untilResumed) await held.untilResumed();
          if (own.blockMs !== undefined) blockEventLoop(own.blockMs);
          if (own.fails) throw new ProblemError('ORDER_FAILED', "The sale's script makes it fail.");
        },
        async before(step: 'order' | 'answer') {
          if (step === 'order' ? own?.beforeOrder : own?.beforeAnswer) await held.untilResumed();
        },
      };
    },
  };
}

/** Blocks this process like a computation would, but without keeping a core from the other nodes. */
function blockEventLoop(ms: number) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
