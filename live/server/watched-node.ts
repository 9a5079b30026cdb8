// What is known of one node from its event stream: how its sales ended, who is inside, and what it has recorded.

import type { Push } from '../../loadtest/harness/event-stream.ts';
import type { NodeState, SaleEvent } from '../../loadtest/harness/lab-client.ts';

/** How many events of a node are kept for the timeline, the newest. The counts do not need them. */
const MOST_EVENTS = 10_000;

/** How sales ended, since the last reset. */
export interface SaleEndings {
  sold: number;
  /** Those that certainly did not take place, whatever the reason. */
  refused: number;
  /** Those of which nobody knows, those that were under way in a process that died among them. */
  inDoubt: number;
}

/** What a node is seen to do, at one moment. */
export interface SeenNode extends SaleEndings {
  inFlight: number;
  waiting: number;
  inside: string[];
  /** What it has recorded, in its order; the newest 10,000 since the last reset. */
  events(): SaleEvent[];
  /** What it said of itself last; absent before it has said anything. */
  state?: NodeState;
}

export interface WatchedNode {
  name: string;
  /** Takes in a line of the stream. */
  take(push: Push, isFirst: boolean): void;
  /** Its stream has ended, or says nothing. It may stand still, and go on. */
  gone(): void;
  isGone(): boolean;
  /** The fencing token under which a sale was inside last, as far as its events are kept. */
  tokenOf(saleId: string): string | undefined;
  /** The sale that was let in last, and whether it is still inside; nobody was since the last reset when it is undefined. */
  lastLetIn(): (SaleEvent & { isInside: boolean }) | undefined;
  /** What it is seen to do. `isDead`: what was under way in its process never ends. */
  read(isDead: boolean): SeenNode;
}

/** The counts are exact, also across a death: a process that follows another counts on from where that was last heard of. */
export function createWatchedNode(name: string): WatchedNode {
  let state: NodeState | undefined;
  /** How the sales of earlier processes ended. */
  let past: SaleEndings = { sold: 0, refused: 0, inDoubt: 0 };
  let pastEvents: SaleEvent[] = [];
  let events: SaleEvent[] = [];
  const inside = new Set<string>();
  let letIn: SaleEvent | undefined;
  let isGone = true;

  /** A stream tells a process from its beginning. */
  function begin(next: NodeState | undefined) {
    const isSame = state !== undefined && state.instance === next?.instance;
    if (!isSame) {
      past = endingsOf(past, state, true);
      pastEvents = newest([...pastEvents, ...events]);
      state = undefined;
    } else if ((next?.counts.received ?? 0) < (state?.counts.received ?? 0)) {
      // It was reset while nobody followed it.
      forget();
    }
    events = [];
    inside.clear();
  }

  function forget() {
    past = { sold: 0, refused: 0, inDoubt: 0 };
    pastEvents = [];
    events = [];
    inside.clear();
    letIn = undefined;
  }

  function takeEvent(event: SaleEvent) {
    events.push(event);
    if (event.type === 'entered') letIn = event;
    if (event.type === 'entered' || event.type === 'began') inside.add(event.saleId);
    if (event.type === 'left' || event.type === 'failed') inside.delete(event.saleId);
  }

  return {
    name,
    take(push, isFirst) {
      isGone = false;
      if (isFirst) begin(push.state);
      if (push.cleared) forget();
      for (const event of push.events) takeEvent(event);
      // Now and then, as it takes a copy.
      if (events.length > 2 * MOST_EVENTS) events = newest(events);
      state = push.state ?? state;
    },
    gone() {
      isGone = true;
    },
    isGone: () => isGone,
    tokenOf(saleId) {
      const isMeant = (event: SaleEvent) => event.type === 'entered' && event.saleId === saleId;
      return (events.findLast(isMeant) ?? pastEvents.findLast(isMeant))?.fencingToken;
    },
    lastLetIn: () => letIn && { ...letIn, isInside: inside.has(letIn.saleId) },
    read(isDead) {
      const [before, present] = [pastEvents, events];
      return {
        ...endingsOf(past, state, isDead),
        inFlight: isDead ? 0 : (state?.inFlight ?? 0),
        waiting: isDead ? 0 : (state?.waiting ?? 0),
        inside: isDead ? [] : [...inside],
        events: () => newest([...before, ...present]),
        ...(state && { state }),
      };
    },
  };
}

function endingsOf(past: SaleEndings, state: NodeState | undefined, isDead: boolean): SaleEndings {
  if (state === undefined) return past;
  const { counts, inFlight } = state;
  return {
    sold: past.sold + counts.sold,
    refused: past.refused + counts.soldOut + counts.lockTimeout + counts.failed + counts.clientGone,
    inDoubt: past.inDoubt + counts.inDoubt + (isDead ? inFlight : 0),
  };
}

const newest = (events: SaleEvent[]) => events.slice(-MOST_EVENTS);
