// What a process with a lock is started with, is asked, and answers.

export interface LockTask {
  /** A built-in lock by its name, or the file of another one. */
  lock: { name: string } | { file: string };
}

/** How an acquisition is asked for: `wait` until it is aborted, or `once`, with a signal that is aborted from the start. */
export type Patience = 'wait' | 'once';

/** The ports of links: of Redis, and of the masters that vote. */
export interface Ports {
  redis: number;
  masters: number[];
}

export interface LockSettings {
  key: string;
  ownerToken: string;
  leaseMs: number;
  retryDelayMs: number;
}

export type Question =
  | { type: 'connect'; client: string; ports: Ports }
  | { type: 'disconnect'; client: string }
  | { type: 'make'; lock: string; client: string; settings: LockSettings }
  | { type: 'acquire'; lock: string; patience: Patience }
  | { type: 'abort'; lock: string }
  | { type: 'release'; lock: string }
  | { type: 'look'; lock: string }
  | { type: 'contend'; client: string; settings: Omit<LockSettings, 'ownerToken'>; contenders: number; holdMs: number }
  | { type: 'entries' }
  | { type: 'rest' }
  | { type: 'repeat'; client: string; settings: Omit<LockSettings, 'ownerToken'>; times: number }
  | { type: 'resources' }
  | { type: 'standstill'; since: number };

/** What a lock object says of itself. */
export interface Look {
  hasLost: boolean;
  isLost: boolean;
  token?: string;
  /** Listeners that are left on the signals of its acquisitions. */
  listeners: number;
}

export interface Resources {
  /** What is used of the heap after a collection, in bytes. */
  heapBytes: number;
  timers: number;
}

export interface ErrorSaid {
  name: string;
  code?: string;
  message: string;
}

export type ToLockProcess = { id: number; question: Question };

export type FromLockProcess =
  | { type: 'ready'; promises: unknown }
  | { type: 'answer'; id: number; answer?: unknown; error?: ErrorSaid }
  | { type: 'lost'; lock: string };
