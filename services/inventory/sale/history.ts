// The events of this node's sales, in memory.

import type { SaleEvent } from './contract.ts';

export type History = ReturnType<typeof createHistory>;

/** The clock of the events, shared by all processes of this host: monotonic, in milliseconds. */
export const now = () => Number(process.hrtime.bigint()) / 1e6;

/** The events per block; the newest block is still filling up. */
const BLOCK = 4_096;
/** The first block starts small: the model checker keeps thousands of processes alive, and each records a few events. */
const FIRST_ROOM = 16;

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
    return block.event(place % BLOCK, node);
  }

  return {
    record(event: Omit<SaleEvent, 'at' | 'node'>) {
      if (capacity === 0) return;
      let block = blocks.at(-1);
      if (block === undefined || block.count === BLOCK) {
        block = new Block(block === undefined ? FIRST_ROOM : BLOCK);
        blocks.push(block);
        if ((blocks.length - 2) * BLOCK >= capacity) {
          blocks.shift();
          oldest += BLOCK;
        }
      }
      block.append(event);
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

type Kept = Omit<SaleEvent, 'at' | 'node'>;

/** What few events have. */
type Rare = Pick<Kept, 'bucket' | 'fencingToken' | 'code' | 'detail'>;

/** Every type recorded so far. A block stores the index of a type. */
const types: Kept['type'][] = [];

/**
 * Events, with a column for each member: V8 would copy an object for each event twice, because it outlives its sale. The numbers
 * are in typed arrays, outside of V8's heap, where the garbage collector neither copies nor scans them.
 */
class Block {
  count = 0;
  private at: Float64Array;
  private type: Uint8Array;
  /** NaN where there is none. */
  private stock: Float64Array;
  private readonly saleId: string[];
  private readonly requestId: (string | undefined)[];
  private readonly rare = new Map<number, Rare>();

  constructor(room: number) {
    this.at = new Float64Array(room);
    this.type = new Uint8Array(room);
    this.stock = new Float64Array(room);
    this.saleId = new Array(room);
    this.requestId = new Array(room);
  }

  append({ type, saleId, requestId, stock, bucket, fencingToken, code, detail }: Kept) {
    const { count } = this;
    if (count === this.at.length) this.makeRoom(Math.min(2 * count, BLOCK));
    this.at[count] = now();
    this.type[count] = placeOf(type);
    this.stock[count] = stock ?? Number.NaN;
    this.saleId[count] = saleId;
    if (requestId !== undefined) this.requestId[count] = requestId;
    if (bucket !== undefined || fencingToken !== undefined || code !== undefined)
      this.rare.set(count, { bucket, fencingToken, code, detail });
    this.count += 1;
  }

  event(place: number, node: string): SaleEvent {
    const { bucket, fencingToken, code, detail } = this.rare.get(place) ?? {};
    const stock = this.stock[place] as number;
    return {
      at: this.at[place] as number,
      type: types[this.type[place] as number] as SaleEvent['type'],
      node,
      saleId: this.saleId[place] as string,
      requestId: this.requestId[place],
      stock: Number.isNaN(stock) ? undefined : stock,
      bucket,
      fencingToken,
      code,
      detail,
    };
  }

  private makeRoom(room: number) {
    const { at, type, stock } = this;
    this.at = new Float64Array(room);
    this.at.set(at);
    this.type = new Uint8Array(room);
    this.type.set(type);
    this.stock = new Float64Array(room);
    this.stock.set(stock);
  }
}

function placeOf(type: Kept['type']): number {
  const place = types.indexOf(type);
  return place === -1 ? types.push(type) - 1 : place;
}
