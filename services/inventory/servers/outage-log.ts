import type { Logger } from 'pino';

/** How often a server that is away is asked whether it is back, in milliseconds. */
const ASK_EVERY_MS = 250;

export type OutageLines = Pick<Logger, 'warn' | 'info'> | undefined;

export type Outage = ReturnType<typeof createOutageLog>;

/** Writes a line when a server goes away, and one when it is back, with how long that took in milliseconds. */
export function createOutageLog(server: string, log: OutageLines) {
  let awayFrom: number | undefined;
  return {
    began() {
      if (awayFrom !== undefined) return;
      awayFrom = performance.now();
      log?.warn(`${server} is away`);
    },
    ended() {
      if (awayFrom === undefined) return;
      log?.info({ ms: Math.round(performance.now() - awayFrom) }, `${server} is back`);
      awayFrom = undefined;
    },
  };
}

/** For a server whose client does not say that it is away. Call the result when it may be: it repeats `ask` until that resolves. */
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
