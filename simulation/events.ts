// The typed events of a playing, in order: the same in the simulation and on real servers. The log is their text.
//
//   command ───► (held ───► let go) ───► done ───► reply
//   leaves the node                      the server has carried it out, and its answer comes to the node

import type { SaleEvent } from '../services/inventory/sale/contract.ts';

/** What the first key of a command belongs to. */
export type About = 'stock' | 'lock' | 'other';

/** A command of a node, the same from the moment when it leaves until its answer is there. One that is held on real servers is a `write` or a `release`. */
export interface Message {
  node: string;
  /** Its number at its node. */
  id: number;
  /** The sale that sends it, where that is known: its letter in the scenario, else its number at its node. */
  sale?: string | undefined;
  /** The number of the server: Redis is 0, and the masters come after it. */
  server: number;
  /** What Redis calls it, or the name of its script: `SET`. And with what it is about, as people read it: `SET stock 99`. */
  name: string;
  verb: string;
  about: About;
  /** What follows its keys; absent where that is not seen. */
  args?: string[];
}

/** What Redis holds under the key of the lock. */
export interface LockKey {
  /** The value, or the first field of a hash: the owner token, where there is one. */
  value: string;
  /** The sale that it names. */
  owner?: string | undefined;
  /** How often its owner holds it, where that is counted. */
  count?: number;
  /** When it is gone by itself, in milliseconds; absent when it has no TTL. */
  endsAt?: number;
}

/** The return value of a command; for an error its message. */
export type Returned = string | number | null | Returned[];

/** A form and its values, for any set of forms. */
export interface AnySentence {
  form: string;
  values: object;
}

/** `at`: milliseconds on the clock of the playing. `Told`: what a sentence is. `Deed`: what a drill does on purpose. */
export type PlayEvent<Told = AnySentence, Deed = AnySentence> = { at: number } & (
  | { kind: 'sentence'; sentence: Told; line?: string | undefined }
  | Step
  | ({ kind: 'command' | 'held' | 'let go' | 'reply' } & Message)
  | ({ kind: 'done'; returned: Returned } & Message)
  /** A reply that had come earlier is read only now. */
  | { kind: 'reads'; node: string; sale: string; returned: Returned }
  /** What Redis holds from now on. */
  | { kind: 'redis'; stock: number; lock?: LockKey }
  | { kind: 'lease'; is: 'begun' | 'renewed' | 'freed' | 'ended'; owner?: string | undefined; endsAt?: number }
  | { kind: 'node'; node: string; is: 'stopped' | 'resumed' | 'killed' | 'started again' }
  /** For so many milliseconds; on real servers until it has resumed. */
  | { kind: 'node'; node: string; is: 'blocked' | 'standing still'; ms?: number }
  | { kind: 'clock'; node: string; rate: number }
  /** The harness gets no core for so long. */
  | { kind: 'harness'; ms: number }
  | { kind: 'server'; is: 'stopped' | 'resumed' | 'killed' | 'started again' }
  /** What the drill does on purpose, and its end. */
  | { kind: 'fault'; is: 'begun' | 'over'; what: Deed; node?: string | undefined; sale?: string | undefined }
  | { kind: 'line'; node: string; sale?: string | undefined; line: number }
);

/** A step of a sale: it waits, enters, reads, writes, leaves, or fails. */
export interface Step extends Omit<SaleEvent, 'at' | 'type' | 'saleId'> {
  kind: 'sale';
  sale: string;
  step: SaleEvent['type'];
}

/** Called with what happens now. */
export type Tell<Deed = AnySentence> = (event: Happening<Deed>) => void;
/** An event whose time is now. */
export type Happening<Deed = AnySentence> =
  PlayEvent<AnySentence, Deed> extends infer Event ? (Event extends unknown ? Omit<Event, 'at'> : never) : never;
