// Notices that a file was saved, however the editor does it: over the old file, or by putting another in its place.

import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = 150;
/** Some editors empty the file before they fill it. */
const SETTLE_MS = 60;

/** Resolves when the file has been saved next. Rejects with the reason of the signal when that aborts first. */
export function nextSave(file: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = watchForSaves(file, () => {
      end();
      resolve();
    });
    signal.addEventListener('abort', () => {
      end();
      reject(signal.reason);
    });
  });
}

/** Calls `onSave` when the file has been saved, or has gone. Returns what ends that. */
function watchForSaves(file: string, onSave: () => void): () => void {
  let isOver = false;
  let last = stateOf(file);

  async function settle() {
    for (let text = read(file); ; ) {
      await sleep(SETTLE_MS);
      const next = read(file);
      if (next === text) break;
      text = next;
    }
    if (!isOver) onSave();
  }

  // It looks again and again: that works on every file system, and for a file that is replaced.
  const timer = setInterval(() => {
    const state = stateOf(file);
    if (state === last) return;
    last = state;
    void settle();
  }, LOOK_EVERY_MS);
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

/** When the file was last written, how long it is, and which file it is. */
function stateOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? 'none' : `${stats.mtimeMs} ${stats.size} ${stats.ino}`;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
