// Node globals for the simulation in the worker.

import { PageBuffer } from './buffer.ts';

const { scheduler } = globalThis as { scheduler?: { postTask(then: () => void): void } };
/** In a browser without it (Safari), importing an empty module also runs after all promises, and far sooner than a message. */
const nothing = new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));

Object.assign(globalThis, {
  Buffer: PageBuffer,
  process: {
    env: {},
    pid: 1,
    // What it may use is the browser's to say.
    memoryUsage: () => ({ heapUsed: 0, arrayBuffers: 0 }),
    on(what: string, hear: (why: unknown) => void) {
      if (what !== 'unhandledRejection') return;
      addEventListener('unhandledrejection', (event) => {
        event.preventDefault();
        hear(event.reason);
      });
    },
  },
  /** Runs after all pending promise callbacks. */
  setImmediate(then: () => void) {
    if (scheduler) scheduler.postTask(then);
    else void WebAssembly.instantiate(nothing).then(then);
  },
});
// A page from the disk has none. What waits in it waits by the virtual clock, so no memory is shared.
(globalThis as { SharedArrayBuffer?: unknown }).SharedArrayBuffer ??= ArrayBuffer;
