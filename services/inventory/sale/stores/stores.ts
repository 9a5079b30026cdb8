// The terms of this folder: a sale looks at the stock (step 2), writes MySQL (step 3), then Redis (step 4).

/** The stock of one sku in MySQL. */
export interface Database {
  /** Resolves with undefined if there is no such sku. */
  read(): Promise<number | undefined>;
  write(stock: number): Promise<void>;
  /** Takes a unit if there is one, in one statement. Resolves with the rest, undefined if there was none. */
  takeOne(): Promise<number | undefined>;
}

/** The stock of the same sku in Redis. */
export interface Cache {
  /** Resolves with undefined on a cache miss. */
  read(): Promise<number | undefined>;
  write(stock: number): Promise<void>;
  delete(): Promise<void>;
}

export interface Stores {
  database: Database;
  cache: Cache;
  /** Runs the work after STOCK_DELETE_AGAIN_MS, if this process is still running then. */
  later(act: () => Promise<void>): void;
}

export interface CachedStock {
  /** Step 2, for a sale and for a plain read. Resolves with undefined if there is no such sku. */
  look(): Promise<number | undefined>;
  /** Steps 3 and 4: takes one of the units that `look` found. Resolves with the rest, or rejects with OUT_OF_STOCK. */
  take(found: number): Promise<number>;
}

export type OpenStock = (stores: Stores) => CachedStock;
