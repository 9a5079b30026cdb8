// The parts of the order service that an exercise file can replace, and what each part gets to work with.

import type { RedisClient } from '../../../locks/lock.ts';
import type { DueOrder } from '../../../services/inventory/orders/jobs/job.ts';

export type { DueOrder };

/** The parts that a module may export. The rest stays the service's own. */
export interface ExternalParts {
  /** Replaces the strategy that IDEMPOTENCY names. */
  answerOnce?: AnswerOnce;
  /** Replaces the protection that JOB_LOCK names. */
  cleanUp?: CleanUp;
  /** Replaces the service's handling of an incoming payment. */
  takePayment?: TakePayment;
}

/** Two ways to send one statement to MySQL. Both reject with MySQL's error. */
export interface Mysql {
  /** Resolves with the rows found. */
  read<Row>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** Resolves with the number of rows inserted, or matched by WHERE. */
  write(sql: string, values?: unknown[]): Promise<number>;
}

/** Extra work in one of our transactions, before it commits. Its statements are committed or rolled back together with ours. */
type Also<Given extends unknown[] = []> = (mysql: Mysql, ...given: Given) => Promise<unknown>;

/** The response to a request, as sent. */
export type Answer = object;

/** A request with a key. */
export interface KeyedRequest {
  /** Identifies the request: each repeat has the same key, and no other request has it. */
  key: string;
  /**
   *
   * Carries out the request: sells a unit and writes the order, in one MySQL transaction, and resolves with the response.
   * `also` runs in that transaction. If it inserts a row with an existing key, everything is rolled back, the unit is returned,
   * and this rejects with `inProgress()`.
   *
   */
  work(also?: Also<[Answer]>): Promise<Answer>;
  /** The table tb_key is yours: `name` is its primary key, and `answer` is a text that may be NULL. */
  mysql: Mysql;
  redis: RedisClient;
  /** An error to throw: it tells the client to retry later, with 409. */
  inProgress(): Error;
}

/** Carries out a request, or finds its earlier response. Resolves with the response. */
export type AnswerOnce = (request: KeyedRequest) => Promise<Answer>;

/** One run of the cleanup job, on one node. */
export interface Tick {
  /** Resolves with the unpaid orders that are due now. The other node may read the same orders. */
  readDue(): Promise<DueOrder[]>;
  /** Runs the work on one order in one MySQL transaction. */
  inTransaction(order: DueOrder, work: (mysql: Mysql) => Promise<unknown>): Promise<void>;
}

/** Closes the orders that are due, and returns their units to the table tb_stock. */
export type CleanUp = (tick: Tick) => Promise<void>;

/** A payment from the stream. */
export interface ArrivedPayment {
  /** `id` is the id of the stream message; `key` identifies the payment, however often it is delivered. */
  message: { id: string; order: string; amount: number; key: string };
  /**
   *
   * Records the payment in one MySQL transaction that also runs `also`. Resolves with true; with false, having written nothing,
   * if `also` inserts a row with an existing key.
   *
   */
  book(also?: Also): Promise<boolean>;
  redis: RedisClient;
}

/** Books a payment and acknowledges its message. An unacknowledged message is redelivered, to this node or the other. */
export type TakePayment = (payment: ArrivedPayment) => Promise<void>;
