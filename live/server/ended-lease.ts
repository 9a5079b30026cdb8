// A lease that ends while a step waits for the presenter: the servers do not wait, and what the step has said of the lock is over then.

import { nameOf } from '../../loadtest/evidence/history.ts';
import { listOf } from '../../loadtest/evidence/numbers.ts';
import type { LockView, NodeView } from '../contract.ts';

/** How much earlier than it was read the end of a lease may come, in milliseconds. */
const READ_LATE_MS = 200;

/** Looks at the lock for as long as a step waits. `now` is in milliseconds. */
export function createEndedLease(now: () => number) {
  /** Who has had the lock since the step began, and until when; undefined while no step waits. */
  let seen: { holder?: string; untilMs: number } | undefined;

  return {
    begin() {
      seen = { untilMs: Number.POSITIVE_INFINITY };
    },
    end() {
      seen = undefined;
    },
    /** What is to be told, in a sentence: once for each lease that has ended since. */
    look({ lock, nodes }: { lock: LockView | null; nodes: NodeView[] }): string | undefined {
      if (seen === undefined) return undefined;
      const { holder, untilMs } = seen;
      const isOver = holder !== undefined && holder !== lock?.holder && now() >= untilMs - READ_LATE_MS;
      seen = {
        ...(lock && { holder: lock.holder }),
        untilMs: now() + (lock?.leftMs ?? Number.POSITIVE_INFINITY),
      };
      return isOver ? sentenceOf(nodes, lock) : undefined;
    },
  };
}

function sentenceOf(nodes: NodeView[], lock: LockView | null): string {
  const inside = nodes.flatMap(({ name, inside }) => inside.map((saleId) => nameOf({ node: name, saleId })));
  const late = inside.filter((name) => name !== lock?.holder);
  if (late.length === 0) return 'The lease has ended while this step waits.';
  return `The lease has ended while this step waits: ${listOf(late)} ${late.length === 1 ? 'is' : 'are'} still inside.`;
}
