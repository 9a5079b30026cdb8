// Replicas of the virtual Redis, and the lines over which they copy it.

import type { Link } from '../../scripts/link/link.ts';
import type { VirtualServer } from '../../virtual/server.ts';

export type Replication = ReturnType<typeof createReplication>;

/** The lines to replicas of this server. */
export function createReplication(primary: VirtualServer) {
  /** How much of what the first has heard passes over each line, by its address; all of it until it is cut. */
  const lines = new Map<string, { passes: number }>();

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
    /** Makes a server copy the first over a line. Returns what brings it up to date: it is called before each look at it. */
    follow(replica: VirtualServer, lineUrl: string): () => void {
      const line = lines.get(lineUrl);
      let copied = 0;
      return () => {
        const until = Math.min(primary.heard.length, line?.passes ?? 0);
        replica.replay(primary.heard.slice(copied, until));
        copied = Math.max(copied, until);
      };
    },
  };
}
