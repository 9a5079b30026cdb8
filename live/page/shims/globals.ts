// Globals of Node that the virtual world finds in the worker.

import { PageBuffer } from './buffer.ts';

/** A browser without it (Safari) sends itself a message, which takes longer. */
const { scheduler } = globalThis as { scheduler?: { postTask(then: () => void): void } };
const { port1, port2 } = new MessageChannel();
const waiting: (() => void)[] = [];
port1.onmessage = () => waiting.shift()?.();

Object.assign(globalThis, {
  Buffer: PageBuffer,
  process: {
    env: {},
    pid: 1,
    // What it may use is the browser's to say.
    memoryUsage: () => ({ heapUsed: 0 }),
    on(what: string, hear: (why: unknown) => void) {
      if (what !== 'unhandledRejection') return;
      addEventListener('unhandledrejection', (event) => {
        event.preventDefault();
        hear(event.reason);
      });
    },
  },
  /** Comes when all that promises have set off has happened. */
  setImmediate(then: () => void) {
    if (scheduler) return scheduler.postTask(then);
    waiting.push(then);
    port2.postMessage(0);
  },
});
// A page from the disk has none. What waits in it waits by the virtual clock, so no memory is shared.
(globalThis as { SharedArrayBuffer?: unknown }).SharedArrayBuffer ??= ArrayBuffer;
