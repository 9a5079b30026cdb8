import type { Logger } from 'pino';

/** How often an unavailable server is checked, in milliseconds. */
const ASK_EVERY_MS = 250;

export type OutageLines = Pick<Logger, 'warn' | 'info'> | undefined;

export type Outage = ReturnType<typeof createOutageLog>;

/** Logs when a server becomes unavailable and when it is back, with the length of the outage in milliseconds. */
export function createOutageLog(server: string, log: OutageLines) {
  let awayFrom: number | undefined;
  return {
    began() {
      if (awayFrom !== undefined) return;
      awayFrom = performance.now();
      log?.warn(`${server} is unavailable`);
    },
    ended() {
      if (awayFrom === undefined) return;
      log?.info({ ms: Math.round(performance.now() - awayFrom) }, `${server} is back`);
      awayFrom = undefined;
    },
  };
}

/**
 * For a server whose client does not report outages. Call the result when there may be one: it repeats `ask` until that
 * resolves.
 */
export function askWhenInDoubt(ask: () => Promise<unknown>, outage: Outage): () => Promise<void> {
  let isAsking = false;
  const isAway = () =>
    ask()
      .then(() => false)
      .catch(() => true);
  return async () => {
    if (isAsking) return;
    isAsking = true;
    while (await isAway()) {
      outage.began();
      // It keeps no process from ending.
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS).unref());
    }
    outage.ended();
    isAsking = false;
  };
}
