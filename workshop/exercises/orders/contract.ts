// What the file of an exercise may bring in the place of the service's own parts of the orders: the parts, and what each of them is given.

import type { RedisClient } from '../../../locks/lock.ts';
import type { DueOrder } from '../../../services/inventory/orders/jobs/job.ts';

export type { DueOrder };

/** The parts that a module may export. What it does not export is ours. */
export interface ExternalParts {
  /** Instead of the strategy that IDEMPOTENCY names. */
  answerOnce?: AnswerOnce;
  /** Instead of the guard that JOB_LOCK names. */
  cleanUp?: CleanUp;
  /** Instead of what we do with a payment that arrives. */
  takePayment?: TakePayment;
}

/** Two ways to send one statement to MySQL. Both reject with what MySQL says against it. */
export interface Mysql {
  /** Resolves with the rows that it finds. */
  read<Row>(sql: string, values?: unknown[]): Promise<Row[]>;
  /** Resolves with the number of rows that it inserts, or that its WHERE finds. */
  write(sql: string, values?: unknown[]): Promise<number>;
}

/** What more is done in a transaction of ours, before it is committed. Its statements are undone together with ours, or stay together. */
type Also<Given extends unknown[] = []> = (mysql: Mysql, ...given: Given) => Promise<unknown>;

/** The answer to a request, as it is sent. */
export type Answer = object;

/** A request that carries a key. */
export interface KeyedRequest {
  /** Names the request: each repeat of it has the same key, and no other request has it. */
  key: string;
  /**
   * Does what the request asks for: it sells a unit and writes the order, in one transaction of MySQL, and resolves with the
   * answer. `also` is done in that transaction. When it inserts a row whose key is there, all of it is undone, the unit is put back,
   * and this rejects with `inProgress()`.
   */
  work(also?: Also<[Answer]>): Promise<Answer>;
  /** The table tb_key is for you: `name` is its primary key, and `answer` a text that may be NULL. */
  mysql: Mysql;
  redis: RedisClient;
  /** To be thrown: it tells the client to ask again later, with 409. */
  inProgress(): Error;
}

/** Has the work of a request done, or finds what was answered to it before. Resolves with the answer. */
export type AnswerOnce = (request: KeyedRequest) => Promise<Answer>;

/** One tick of the clean-up, on one node. */
export interface Tick {
  /** Resolves with the unpaid orders that are due now. The other node may read the same ones. */
  readDue(): Promise<DueOrder[]>;
  /** Does what is to be done to one order in one transaction of MySQL. */
  inTransaction(order: DueOrder, work: (mysql: Mysql) => Promise<unknown>): Promise<void>;
}

/** Closes the orders that are due, and puts their units back into the table tb_stock. */
export type CleanUp = (tick: Tick) => Promise<void>;

/** A payment that has arrived in the stream. */
export interface ArrivedPayment {
  /** `id` is that of the message in the stream, and `key` names the payment, however often it comes. */
  message: { id: string; order: string; amount: number; key: string };
  /**
   * Writes the payment down in one transaction of MySQL, in which `also` is done, too. Resolves with true; with false when `also`
   * inserts a row whose key is there, and then nothing is written.
   */
  book(also?: Also): Promise<boolean>;
  redis: RedisClient;
}

/** Books a payment, and acknowledges its message. One that is not acknowledged comes again, to this node or the other. */
export type TakePayment = (payment: ArrivedPayment) => Promise<void>;
