// The events that the nodes record and report, and waits for some of them.

import type { SaleEvent } from '../../services/inventory/sale/contract.ts';
import { holdsOf } from '../evidence/history.ts';
import { NotStagedError } from '../evidence/not-staged.ts';
import { poll } from './clock.ts';
import type { Target, TargetNode } from './target.ts';

/** How long a node may take to report what it has recorded, in milliseconds. */
const TOLD_LIMIT_MS = 5_000;

/** Follows the nodes until it is closed. `mustGoOn` throws what every wait rejects with from then on. */
export function followNodes(
  { nodes, clock }: Pick<Target, 'nodes' | 'clock'>,
  { mustGoOn, isDead }: { mustGoOn(): void; isDead(node: TargetNode): boolean },
) {
  /** What each process has recorded so far, by its instance. What died with one stays here. */
  const told = new Map<string, SaleEvent[]>();
  /** The instance that runs as a node. */
  const present = new Map<TargetNode, string>();
  let events: SaleEvent[] = [];
  const waits = new Set<() => void>();

  /** Something has happened: whoever waits looks whether it is what they wait for. */
  function ring() {
    for (const look of [...waits]) look();
  }

  function insert(event: SaleEvent) {
    let place = events.length;
    while (place > 0 && (events[place - 1]?.at ?? 0) > event.at) place -= 1;
    events.splice(place, 0, event);
  }

  const ofNode = (node: TargetNode) => told.get(present.get(node) ?? '') ?? [];

  const followed = nodes.map((node) =>
    node.follow((push, isFirst) => {
      if (isFirst && push.state) {
        present.set(node, push.state.instance);
        told.set(push.state.instance, []);
        events = [...told.values()].flat().sort((a, b) => a.at - b.at);
      }
      ofNode(node).push(...push.events);
      for (const event of push.events) insert(event);
      ring();
    }),
  );

  /**
   * Resolves with what `look` finds, at the first moment at which something happens and it finds it; with undefined when `limitMs` has
   * passed. Rejects when nothing may go on.
   */
  function until<T>(look: () => T | undefined | false, limitMs: number): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const timer = clock.startTimer(() => end(() => resolve(undefined)), limitMs);
      function end(settle: () => void) {
        waits.delete(again);
        clock.stopTimer(timer);
        settle();
      }
      function again() {
        try {
          mustGoOn();
          const found = look();
          if (found !== undefined && found !== false) end(() => resolve(found));
        } catch (error) {
          end(() => reject(error));
        }
      }
      waits.add(again);
      again();
    });
  }

  /** Resolves with what `look` finds. Throws NotStagedError, with the sentence, when it finds nothing in time. */
  async function mustSee<T>(look: () => T | undefined | false, limitMs: number, otherwise: string): Promise<T> {
    const found = await until(look, limitMs);
    if (found === undefined) throw new NotStagedError(otherwise);
    return found;
  }

  const eventsAt = ({ name }: TargetNode) => events.filter(({ node }) => node === name);

  /** Resolves when all is known that these nodes have recorded until now; all that live when none are given. Throws NotStagedError when it is not told in time. */
  const catchUp = (those = nodes.filter((node) => !isDead(node))) =>
    Promise.all(
      those.map(async (node) => {
        const { events: recorded } = await node.history();
        const isTold = () => ofNode(node).length >= recorded.length;
        await mustSee(isTold, TOLD_LIMIT_MS, `${node.name} did not report what it had recorded.`);
      }),
    );

  /** Throws NotStagedError when no sale of this node waits or has waited since `from`: refused is not kept out. */
  async function mustHaveWaited(node: TargetNode, from: number) {
    await catchUp([node]);
    const own = eventsAt(node).filter(({ at }) => at >= from);
    const ended = (saleId: string) => own.find((event) => event.saleId === saleId && event.type === 'failed')?.code;
    const waited = own.some(
      ({ type, saleId }) =>
        type === 'waiting' && [undefined, 'CLIENT_GONE', 'LOCK_WAIT_TIMEOUT'].includes(ended(saleId)),
    );
    const code = own.find(({ type }) => type === 'failed')?.code;
    if (!waited) throw new NotStagedError(`No sale on ${node.name} waited for the lock${code ? `: ${code}` : ''}.`);
  }

  return {
    /** What is known so far, in the order in which it happened. */
    events: () => events as readonly SaleEvent[],
    ring,
    until,
    mustSee,
    /** What no event tells is looked at again and again. Resolves with undefined after the limit. */
    waitFor: <T>(look: () => Promise<T | undefined>, limitMs: number) =>
      poll(clock, limitMs, () => {
        mustGoOn();
        return look();
      }),
    /** Resolves when every node is followed. Rejects when one is not in time. */
    async begin() {
      const areFollowed = await until(() => present.size === nodes.length, TOLD_LIMIT_MS);
      if (!areFollowed) throw new Error('The events of a node did not arrive.');
    },
    catchUp,
    eventsAt,
    /** How many sales wait for the lock on a node. */
    waitingAt(node: TargetNode) {
      const last = new Map(eventsAt(node).map(({ saleId, type }) => [saleId, type]));
      return [...last.values()].filter((type) => type === 'waiting').length;
    },
    holds: () => holdsOf([...events]),
    mustHaveWaited,
    close() {
      for (const { close } of followed) close();
    },
  };
}
