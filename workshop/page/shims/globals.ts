// Globals of Node that the virtual world finds in the worker.

import { PageBuffer } from './buffer.ts';

const { scheduler } = globalThis as { scheduler?: { postTask(then: () => void): void } };
/** In a browser without it (Safari) an empty module comes after all promises, too, and far sooner than a message. */
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
  /** Comes when all that promises have set off has happened. */
  setImmediate(then: () => void) {
    if (scheduler) scheduler.postTask(then);
    else void WebAssembly.instantiate(nothing).then(then);
  },
});
// A page from the disk has none. What waits in it waits by the virtual clock, so no memory is shared.
(globalThis as { SharedArrayBuffer?: unknown }).SharedArrayBuffer ??= ArrayBuffer;
