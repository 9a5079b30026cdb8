// A proxy of the virtual world as a link of the harness.

import { isMeant } from '../../scripts/link/command.ts';
import { createHold } from '../../scripts/link/hold.ts';
import type { Link } from '../../scripts/link/link.ts';
import type { VirtualProxy } from '../../virtual/proxy.ts';
import type { VirtualServer } from '../../virtual/server.ts';

export interface LinkOptions {
  url: string;
  port: number;
  proxy: VirtualProxy;
  /** The server at an address. */
  serverAt(url: string): VirtualServer;
}

export function linkOf({ url, port, proxy, serverAt }: LinkOptions): Link {
  return {
    url,
    port,
    counters: proxy.counters,
    holdNext(meant) {
      const hold = createHold(meant, () => forget());
      const forget = proxy.hold({
        isMeant: (command) => isMeant(meant, command),
        arrive: (command, { letGo, drop }) =>
          hold.arrive(command, {
            letGo: () => hold.settle(letGo()),
            drop() {
              drop();
              hold.settle(false);
            },
          }),
      });
      return hold.held;
    },
    watch: proxy.watch,
    delayReplies: proxy.delayReplies,
    cut: (how = 'reset') => proxy.cut(how),
    restore: proxy.restore,
    moveTo: (redisUrl) => proxy.moveTo(serverAt(redisUrl)),
    async close() {},
  };
}
