type Cleanup = () => Promise<void> | void;

const cleanups: Cleanup[] = [];

/** Has `cleanup` called when the file has run, after those that come later. */
export function cleanUpLater(cleanup: Cleanup) {
  cleanups.push(cleanup);
}

/**
 * Called when a file has run: the next one may run in the same process. The reaper stays for the next one, too, and ends with the
 * process.
 */
export async function cleanUp() {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}
