// Replicas of the virtual Redis, and the lines over which they copy it.

import type { Link } from '../../scripts/link/link.ts';
import type { VirtualServer } from '../../virtual/server.ts';

/** The replicas of the server at this address, and the lines to them. */
export function createReplication(primary: VirtualServer, primaryUrl: string) {
  /** How much of what the first has heard passes over each line, by its address; all of it until it is cut. */
  const lines = new Map([[primaryUrl, { passes: Number.POSITIVE_INFINITY }]]);

  return {
    /** Opens a line to the first server. It can be cut once, for ever. */
    openLine(): Link {
      const line = { passes: Number.POSITIVE_INFINITY };
      const port = 20_000 + lines.size;
      const url = `redis://127.0.0.1:${port}`;
      lines.set(url, line);
      const none = () => {
        throw new Error('The line to a replica can be cut, and nothing else.');
      };
      return {
        url,
        port,
        cut() {
          line.passes = Math.min(line.passes, primary.heard.length);
        },
        restore() {},
        async close() {},
        holdNext: none,
        watch: none,
        delayReplies: none,
        moveTo: none,
        counters: { connections: 1, open: 1, commands: new Map(), held: 0 },
      };
    },
    /** True when somebody who copies over this line gets something. */
    leadsHere: (lineUrl: string) => lines.has(lineUrl),
    /** Makes a server copy the first over a line. Returns what brings it up to date: it is called before each look at it. */
    follow(replica: VirtualServer, lineUrl: string): () => void {
      let copied = 0;
      const hasHeard = () => Math.min(primary.heard.length, lines.get(lineUrl)?.passes ?? 0);
      primary.addReplica(hasHeard);
      return () => {
        const until = hasHeard();
        replica.replay(primary.heard.slice(copied, until));
        copied = Math.max(copied, until);
      };
    },
  };
}
