// Notices that a file was saved, however the editor does it: over the old file, or by putting another in its place.

import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = 150;
/** Some editors empty the file before they fill it. */
const SETTLE_MS = 60;

/** Calls `onSave` when the file has been saved, or has gone. Returns what ends that. */
export function watchForSaves(file: string, onSave: () => void): () => void {
  let isOver = false;
  const look = async () => {
    for (let text = read(file); ; ) {
      await sleep(SETTLE_MS);
      const next = read(file);
      if (next === text) break;
      text = next;
    }
    if (!isOver) onSave();
  };
  // It looks again and again: that works on every file system, and for a file that is replaced.
  watchFile(file, { interval: LOOK_EVERY_MS }, look);
  return () => {
    isOver = true;
    unwatchFile(file, look);
  };
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
