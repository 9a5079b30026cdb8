// Marks the faults of a drill for its timeline.

import type { SaleName } from '../evidence/history.ts';
import type { Fault } from '../evidence/timeline.ts';
import type { Deed } from '../narration/faults.ts';
import type { Target, TargetNode } from './target.ts';

export function createMarks({ clock, tell }: Pick<Target, 'clock' | 'tell'>) {
  const all: Fault[] = [];
  /** When the drill itself had paused a node. */
  const staged: Fault[] = [];

  /**
   * Marks what the drill does to break things, now or `at` a moment on the shared clock, to a node or to one of its sales. Call
   * `over` when it is over; a moment never is. `standsStill`: the process of the node comes to nothing meanwhile.
   */
  function mark(what: Deed, hit: { node?: TargetNode; sale?: SaleName; at?: number; standsStill?: boolean } = {}) {
    const node = hit.sale?.node ?? hit.node?.name;
    const fault: Fault = {
      what,
      from: hit.at ?? clock.now(),
      ...(node !== undefined && { node }),
      ...(hit.sale && { saleId: hit.sale.saleId }),
    };
    all.push(fault);
    if (hit.standsStill) staged.push(fault);
    const event = { kind: 'fault' as const, what, node, sale: hit.sale?.saleId };
    tell?.({ ...event, is: 'begun' });
    return {
      over() {
        fault.until = clock.now();
        tell?.({ ...event, is: 'over' });
      },
    };
  }

  return {
    all,
    mark,
    /** How long within a span the drill itself had paused a node, in milliseconds. */
    stagedMs(node: string, span: { from: number; until: number }): number {
      const own = staged.filter((fault) => fault.node === node);
      return own.reduce((sum, { from, until = Number.POSITIVE_INFINITY }) => {
        return sum + Math.max(0, Math.min(until, span.until) - Math.max(from, span.from));
      }, 0);
    },
  };
}
