// The events of this node's sales, in memory.

import type { SaleEvent } from './contract.ts';

export type History = ReturnType<typeof createHistory>;

/** The clock of the events, shared by all processes of this host: monotonic, in milliseconds. */
export const now = () => Number(process.hrtime.bigint()) / 1e6;

/** The events per block; the newest block is still filling up. */
const BLOCK = 4_096;

/** Keeps the newest `capacity` events in memory, so that recording costs no Redis command; 0 keeps none. */
export function createHistory(node: string, capacity = 600_000) {
  let blocks: Block[] = [];
  /** How many events have been recorded. Each clearing counts as one. */
  let count = 0;
  let first = 0;
  /** The count at the start of the first block. */
  let oldest = 0;
  const watchers = new Set<() => void>();

  /**
   * The events after a cursor, or all, oldest first, up to a limit. A cursor is an earlier count, so keeping one costs nothing.
   * `dropped`: how many of those behind it are forgotten. `cleared`: the history was cleared since, and these are from its new
   * beginning on.
   */
  function read(cursor = first, most = Number.POSITIVE_INFINITY) {
    const wanted = Math.max(cursor, first);
    const from = Math.max(wanted, count - capacity);
    const next = Math.min(count, from + most);
    return {
      events: Array.from({ length: Math.max(0, next - from) }, (_, at) => eventAt(from - oldest + at)),
      dropped: from - wanted,
      cleared: cursor < first,
      next,
    };
  }

  function eventAt(place: number): SaleEvent {
    const block = blocks[Math.floor(place / BLOCK)] as Block;
    return eventIn(block, place % BLOCK, node);
  }

  return {
    record(event: Omit<SaleEvent, 'at' | 'node'>) {
      if (capacity === 0) return;
      let block = blocks.at(-1);
      if (block === undefined || block.at.length === BLOCK) {
        block = newBlock();
        blocks.push(block);
        if ((blocks.length - 2) * BLOCK >= capacity) {
          blocks.shift();
          oldest += BLOCK;
        }
      }
      append(block, event);
      count += 1;
      for (const see of watchers) see();
    },
    /** Called when a sale resumes. It is not recorded: only what the sale then does is. */
    pass(_saleId: string) {},
    /** Calls `see` after each event. Returns a function to stop. */
    watch(see: () => void): () => void {
      watchers.add(see);
      return () => void watchers.delete(see);
    },
    read,
    clear() {
      blocks = [];
      count += 1;
      first = count;
      oldest = count;
    },
  };
}

type Kept = Omit<SaleEvent, 'node'>;

/** Events in columns, one per member: as objects, V8 would copy each event twice, because it outlives its sale. */
type Block = { [Member in keyof Required<Kept>]: Kept[Member][] };

function newBlock(): Block {
  return {
    at: [],
    type: [],
    saleId: [],
    requestId: [],
    stock: [],
    bucket: [],
    fencingToken: [],
    code: [],
    detail: [],
  };
}

function append(block: Block, event: Omit<Kept, 'at'>) {
  block.at.push(now());
  block.type.push(event.type);
  block.saleId.push(event.saleId);
  block.requestId.push(event.requestId);
  block.stock.push(event.stock);
  block.bucket.push(event.bucket);
  block.fencingToken.push(event.fencingToken);
  block.code.push(event.code);
  block.detail.push(event.detail);
}

function eventIn(block: Block, place: number, node: string): SaleEvent {
  return {
    at: block.at[place] as number,
    type: block.type[place] as SaleEvent['type'],
    node,
    saleId: block.saleId[place] as string,
    requestId: block.requestId[place],
    stock: block.stock[place],
    bucket: block.bucket[place],
    fencingToken: block.fencingToken[place],
    code: block.code[place],
    detail: block.detail[place],
  };
}
